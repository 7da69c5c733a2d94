/**
 * Charge the usage that relays report, in one transaction: the core of this service.
 *
 * Source: specification 4.12. The transaction claims the ids, prices the records (`bill.ts`, where
 * duplicates cost nothing), appends to the ledger, moves balances and carries, and requests automatic
 * top-ups that are due. It serves one or many batches of one or many tenants; each is answered as if it
 * had come alone, after those before it. The queue decides which batches go together.
 */
import { isPassing } from '../../base/db/outage.ts';
import { runTogether, type Statement } from '../../base/db/pipeline.ts';
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { Failure } from '../../base/failure.ts';
import type { LimitedCaller } from '../../base/tenants/limited-caller.ts';
import { countsAsPaid, type TenantId } from '../../base/tenants/tenant.ts';
import type { EventDeps } from '../../events/event-deps.ts';
import {
  type Account,
  findAccount,
  lockAndRead,
  lockAndReadFree,
  lockedOf,
} from '../accounts/accounts.sql.ts';
import { alarmIfOutOfRange } from '../ledger/balance-range.ts';
import { appendBalanceEvents, insertPostings, moveAccounts } from '../ledger/ledger.sql.ts';
import type { LedgerMetrics } from '../ledger/ledger-metrics.ts';
import type { Rounding } from '../pricing/carry.ts';
import { CURRENT_RULE, type PricingRule } from '../pricing/pricing-rule.ts';
import type { RateCards } from '../pricing/rate-cards.ts';
import { ArchivedRepeats, findSuspectChunks } from '../records/archived-repeats.ts';
import { NAMED_IDS_MAX } from '../records/charged-record.ts';
import { copyRecords, KnownIdError } from '../records/copy-records.sql.ts';
import { Buffers } from '../records/copy-rows.ts';
import type { KnownIdDeps } from '../records/known-ids/find-suspects.ts';
import { DamagedPageError } from '../records/known-ids/page.ts';
import { findKnown, findTenantsOfKnown, type TenantIds } from '../records/known-records.sql.ts';
import type { RepeatMemory } from '../records/repeat-memory.ts';
import type { UsageRecords } from '../records/usage-records.ts';
import { requestTopUpIfBelow } from '../top-ups/request-top-up.ts';
import {
  type Batch,
  type Bill,
  billBatches,
  type ChargeOutcome,
  type Known,
  type Outcomes,
  type SharedOutcomes,
} from './bill.ts';
import { type ChargeQueue, RETRY_AFTER_SECONDS, type TenantCharging } from './charge-queue.ts';
import { SEQSCAN_OFF, SHARED_SETTINGS } from './charge-settings.sql.ts';
import { recordConflicts } from './conflicts.sql.ts';
import { tellConflicts } from './tell-conflicts.ts';
import type { UnpaidRecords } from './unpaid-records.ts';
import type { UsageMetrics } from './usage-metrics.ts';
import { sumRecords } from './usage-sums.ts';

const OUT_OF_RANGE = 'the batch cannot be charged until an operator has adjusted the balance: try again';
/** A tenant's archive grows about once a second, and what was read is kept. */
const ARCHIVE_READS_MAX = 5;
/**
 * A transaction of several tenants looks up so many ids of those without a filter (`known-filters.ts`), because the accounts of the others
 * are locked meanwhile. A tenant counts as so many more.
 */
const LOOKED_UP_MAX = 400;
const LOOKED_UP_OF_TENANT = 20;
/** A person has to act first. */
const ADJUSTED_WITHIN_SECONDS = 60;

export interface ChargeDeps extends EventDeps, KnownIdDeps {
  readonly metrics: EventDeps['metrics'] & UsageMetrics & LedgerMetrics;
  readonly rates: RateCards;
  readonly charges: ChargeQueue;
  readonly repeatMemory: RepeatMemory;
  readonly unpaidRecords: UnpaidRecords;
  /** Notes which participants the records show as present. */
  readonly sightings: { note(tenant: TenantId, records: UsageRecords): void };
  /** Wakes the top-up worker of this process. A lost call only delays a top-up. */
  readonly wakeTopUps: () => void;
  readonly config: { readonly billingRounding: Rounding };
}

/**
 * Charges the batch as a whole or not at all. Resolves after the commit. Fails with `overloaded` if it cannot be
 * charged now, also if the balance would leave its range, and with `too_many_requests` beyond what a tenant that never paid
 * may report: the relay keeps the batch and sends it again.
 */
export async function chargeUsage(
  deps: ChargeDeps,
  { tenant, tenantStatus }: Pick<LimitedCaller, 'tenant' | 'tenantStatus'>,
  records: UsageRecords,
): Promise<ChargeOutcome> {
  const hasPaid = countsAsPaid(tenantStatus);
  if (!hasPaid) await deps.unpaidRecords.count(tenant, records);
  const stop = deps.metrics.chargeDuration.startTimer();
  const outcome = await deps.charges.charge({ tenant, records }, hasPaid).catch((error: unknown) => {
    if (isPassing(error)) throw new Failure('overloaded', { retryAfter: RETRY_AFTER_SECONDS, cause: error });
    if (!alarmIfOutOfRange(deps, error)) throw error;
    throw new Failure('overloaded', {
      message: OUT_OF_RANGE,
      retryAfter: ADJUSTED_WITHIN_SECONDS,
      cause: error,
    });
  });
  stop();
  deps.metrics.countCharge(records.length, outcome);
  deps.sightings.note(tenant, records);
  return outcome;
}

/**
 * Charge batches, without an outcome for those whose accounts another transaction has locked, or that repeat archived records. Fails
 * soon if it has to wait for another lock.
 */
export function chargeFreeBatches(deps: ChargeDeps, batches: readonly Batch[]): Promise<SharedOutcomes> {
  const tenants = [...new Set(batches.map((batch) => batch.tenant))];
  return charge(deps, batches, CURRENT_RULE, {
    settings: SHARED_SETTINGS,
    lock: lockAndReadFree(tenants),
  });
}

export interface AloneOptions extends Partial<TenantCharging> {
  readonly rule?: PricingRule | undefined;
}

/**
 * Charge batches of one tenant, waiting for the lock on its account. The archived records that they repeat are read before, as long as
 * `isAwaited`, and once more if the archive has changed by the time when the account is locked. What was read is kept for a minute: if it
 * was not all, the same batches go on from there when they come again.
 */
export async function chargeTenant(
  deps: ChargeDeps,
  tenant: TenantId,
  batches: readonly Batch[],
  {
    rule = CURRENT_RULE,
    isAwaited = () => true,
    inPlace = (work) => work(),
    waiting = () => [],
  }: AloneOptions = {},
): Promise<Outcomes> {
  const reported = batches.map(({ records }) => records);
  let repeats: ArchivedRepeats | undefined;
  for (let attempt = 1; attempt <= ARCHIVE_READS_MAX; attempt += 1) {
    const account = await findAccount(deps.db, tenant);
    repeats ??= new ArchivedRepeats(deps.repeatMemory, {
      tenant,
      hasPaid: countsAsPaid(account.status),
      batches: reported,
      waiting: () => waiting().map(({ records }) => records),
    });
    const charging = { settings: SEQSCAN_OFF, lock: lockAndRead(tenant), repeats };
    const chunks = await findSuspectChunks(deps, deps.db, account, reported);
    await repeats.read(deps.db, chunks, isAwaited);
    const charged = await inPlace(async () =>
      isAwaited() ? charge(deps, batches, rule, charging) : undefined,
    );
    if (!charged) break;
    if (!charged.repeating.has(tenant)) return charged.outcomes;
  }
  throw new Failure('overloaded', { retryAfter: RETRY_AFTER_SECONDS });
}

/** How a transaction begins. */
interface Charging {
  readonly settings: Statement;
  readonly lock: ReturnType<typeof lockAndReadFree>;
  /** What was read of the archive before. Absent: nothing, and there are other tenants. */
  readonly repeats?: ArchivedRepeats;
}

/**
 * Looking up an id costs more than storing it, and nearly every record is new. So the first attempt
 * probes only a few ids, and stores the records as new unless an id of their tenant is known. If one is
 * known after all, the unique key refuses it, and the whole transaction runs again and looks up every id.
 * Ids of archived records are looked for each time, in the memory of this process.
 */
async function charge(
  deps: ChargeDeps,
  batches: readonly Batch[],
  rule: PricingRule,
  { settings, lock, repeats }: Charging,
): Promise<SharedOutcomes> {
  const attempt = async (mustLookUp: boolean): Promise<SharedOutcomes> => {
    const { bills, repeating, topUpRequested, told } = await inTransaction(deps.db, async (tx) => {
      const probed = mustLookUp ? [] : probe(batches);
      const locking = runTogether(tx, [
        settings,
        ...lock,
        ...(probed.length > 0 ? [findTenantsOfKnown(probed)] : []),
      ]);
      // Sort while the database takes the locks.
      for (const { records } of batches) records.sortById();
      const byTenant = Map.groupBy(batches, ({ tenant }) => tenant);
      const [, locked, read, found = []] = await locking;
      const { accounts, archived, repeating } = await lookIntoArchive(
        deps,
        tx,
        lockedOf([locked, read]),
        byTenant,
        repeats,
      );
      const tenants = new Set(accounts.map(({ tenant }) => tenant));
      const suspected = mustLookUp
        ? tenants
        : new Set(
            [...found.map(({ tenant }) => tenant), ...archived.keys()].filter((each) => tenants.has(each)),
          );
      const suspects = [...suspected].flatMap((tenant) => byTenant.get(tenant)!);
      const known = await findKnown(tx, idsOf(suspects));
      for (const [tenant, records] of archived)
        known.set(tenant, new Map([...(known.get(tenant) ?? []), ...records]));
      const bills = await makeBills(deps, tx, accounts, byTenant, known, rule);
      return { bills, repeating, ...(await storeBills(tx, bills)) };
    });
    if (topUpRequested) deps.wakeTopUps();
    for (const tenant of told) deps.events.wake(tenant);
    return { outcomes: new Map(bills.flatMap(({ outcomes }) => [...outcomes])), repeating };
  };
  try {
    return await attempt(false);
  } catch (error) {
    if (!(error instanceof KnownIdError)) throw error;
    return attempt(true);
  }
}

type BatchesOf = ReadonlyMap<TenantId, readonly Batch[]>;

interface InArchive {
  /** Those to charge now. */
  readonly accounts: readonly Account[];
  /** The stored records that are repeated, by tenant. */
  readonly archived: ReadonlyMap<TenantId, Known & {}>;
  /** Those to charge afterwards, after reading more of the archive. */
  readonly repeating: ReadonlySet<TenantId>;
}

/**
 * Finds archived records that the batches repeat. Reading them takes milliseconds, so a tenant whose were not read before is left out. So
 * is one of several whose ids take long to look up, or whose known ids are damaged: it fails alone.
 */
async function lookIntoArchive(
  deps: ChargeDeps,
  tx: Tx,
  locked: readonly Account[],
  batches: BatchesOf,
  repeats: ArchivedRepeats | undefined,
): Promise<InArchive> {
  const archived = new Map<TenantId, Known & {}>();
  const accounts: Account[] = [];
  const repeating = new Set<TenantId>();
  let lookedUp = 0;
  for (const account of locked) {
    if (account.archivedSeq === 0n) {
      accounts.push(account);
      continue;
    }
    const own = batches.get(account.tenant)!.map(({ records }) => records);
    if (batches.size > 1 && !deps.knownFilters.covers(account.tenant, account.archivedSeq)) {
      const cost = own.reduce((sum, { length }) => sum + length, LOOKED_UP_OF_TENANT);
      if (lookedUp + cost > LOOKED_UP_MAX) {
        repeating.add(account.tenant);
        continue;
      }
      lookedUp += cost;
    }
    const chunks = await findSuspectChunks(deps, tx, account, own).catch((error: unknown) => {
      if (!repeats && error instanceof DamagedPageError) return undefined;
      throw error;
    });
    const found = chunks?.size === 0 ? NOTHING : chunks && (await repeats?.find(tx, chunks));
    if (!found) {
      repeating.add(account.tenant);
      continue;
    }
    accounts.push(account);
    if (found.size > 0) archived.set(account.tenant, found);
  }
  return { accounts, archived, repeating };
}

const NOTHING: Known & {} = new Map();

function idsOf(batches: readonly Batch[]): TenantIds {
  return batches.flatMap(({ tenant, records }) =>
    Array.from(records.sortById(), (row) => ({ tenant, id: records.id(row) })),
  );
}

/** The first, middle and last id of each batch: enough to detect a batch that was sent before. */
function probe(batches: readonly Batch[]): TenantIds {
  return batches.flatMap(({ tenant, records }) => {
    const { length } = records;
    const rows = length === 0 ? [] : [...new Set([0, length >> 1, length - 1])];
    return rows.map((row) => ({ tenant, id: records.id(row) }));
  });
}

async function makeBills(
  deps: ChargeDeps,
  tx: Tx,
  accounts: readonly Account[],
  batches: BatchesOf,
  known: ReadonlyMap<TenantId, Known>,
  rule: PricingRule,
): Promise<Bill[]> {
  const rounding = deps.config.billingRounding;
  const bills: Bill[] = [];
  for (const account of accounts) {
    const rates = await deps.rates.version(tx, account.rateVersion);
    const own = batches.get(account.tenant)!;
    bills.push(billBatches(account, own, known.get(account.tenant), { rates, rule, rounding }));
  }
  return bills;
}

interface Stored {
  /** Whether an automatic top-up was requested. */
  readonly topUpRequested: boolean;
  /** Tenants with events of this transaction. */
  readonly told: readonly TenantId[];
}

async function storeBills(tx: Tx, bills: readonly Bill[]): Promise<Stored> {
  await recordConflicts(
    tx,
    bills.flatMap(({ account, conflicts }) =>
      conflicts.map((record) => ({ tenant: account.tenant, record })),
    ),
  );
  const told: TenantId[] = [];
  for (const { account, conflicts } of bills) {
    if (conflicts.length > 0 && (await tellConflicts(tx, account.tenant, conflicts)))
      told.push(account.tenant);
  }
  const posted = bills.filter(({ count }) => count > 0);
  if (posted.length === 0) return { topUpRequested: false, told };

  const moved = moveAccounts(posted.map(postingOf));
  const buffers = new Buffers();
  const records = posted.map(({ account, charged }, at) => ({
    tenant: account.tenant,
    seq: moved[at]!.after.lastSeq,
    charged,
  }));
  await runTogether(tx, [copyRecords(records, buffers), ...insertPostings(moved)]);
  buffers.giveBack();
  let topUpRequested = false;
  for (const { after, hasEvents } of await appendBalanceEvents(tx, moved)) {
    if (!after.exempt && (await requestTopUpIfBelow(tx, after))) topUpRequested = true;
    if (hasEvents) told.push(after.tenant);
  }
  return { topUpRequested, told };
}

function postingOf(bill: Bill) {
  const { account, total, carry, terms } = bill;
  return {
    account,
    posting: {
      kind: account.exempt ? 'unbilled' : 'usage',
      amount: account.exempt ? 0n : -total,
      batch: {
        terms,
        carry,
        records: bill.count,
        newestIds: newestIds(bill),
        sums: sumRecords(bill.charged),
      },
    },
  } as const;
}

function newestIds({ charged }: Bill): string[] {
  const ids: string[] = [];
  for (const { records, lines } of charged.toReversed()) {
    for (let row = records.length - 1; row >= 0 && ids.length < NAMED_IDS_MAX; row -= 1) {
      if (lines[row] !== -1) ids.push(records.id(row));
    }
  }
  return ids;
}
