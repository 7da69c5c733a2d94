/** What a campaign left: its journal, its database, and what the service answers. Each part is read once. */
import { type Database, isTrue, type Row, tenantOf } from './database.ts';
import type { Entry, Journal } from './journal.ts';
import type { Card } from './price.ts';
import {
  type LedgerEntry,
  type ListedEvent,
  type ListedRecord,
  type Reads,
  readEvents,
  readLedger,
  readRecords,
} from './views.ts';

export interface Posting {
  readonly seq: bigint;
  readonly kind: string;
  readonly amount: bigint;
  readonly balanceBefore: bigint;
  readonly balance: bigint;
  /** As the database has it: times compare as these texts do. */
  readonly at: string;
  readonly rateVersion: string | null;
  readonly rounding: string | null;
  readonly carry: bigint | null;
  readonly records: number;
  readonly reference: string | null;
  readonly detail: string | null;
  readonly payment: string | null;
}

/** The ledger of a tenant: its account, its postings in order, and its records in the order in which they were charged. */
export interface Ledger {
  readonly tenant: string;
  readonly balance: bigint;
  readonly carry: bigint;
  readonly lastSeq: bigint;
  readonly postings: readonly Posting[];
  readonly records: readonly ListedRecord[];
}

/** An event of the log. */
export interface LoggedEvent {
  readonly tenant: string;
  readonly seq: number;
  readonly type: string;
  readonly roomUid: string | null;
  readonly at: string;
  readonly subject: Subject;
}

/** The members of subjects that rules look at. */
interface Subject {
  readonly id?: string;
  readonly name?: string;
  readonly endReason?: string | null;
  readonly key?: { readonly id: string };
  readonly credential?: { readonly id: string };
  readonly action?: string;
  readonly room?: string | null;
  readonly subject?: { readonly kind: string; readonly value: string } | null;
}

export class Facts {
  readonly journal: Journal;
  readonly db: Database;
  readonly reads: Reads;
  readonly #cache = new Map<string, Promise<unknown>>();
  readonly #byOps = new Map<string, readonly Entry[]>();
  #tenants: readonly string[] | undefined;
  #readable: ReadonlySet<string> | undefined;

  constructor(journal: Journal, db: Database, reads: Reads) {
    this.journal = journal;
    this.db = db;
    this.reads = reads;
  }

  /** Tenants that have a journal. */
  get tenants(): readonly string[] {
    this.#tenants ??= this.#findTenants();
    return this.#tenants;
  }

  #findTenants(): readonly string[] {
    const named = [
      ...this.journal.entries.map(({ args, answer }) => args.tenant ?? answer?.tenant),
      ...this.journal.reports.map(({ tenant }) => tenant),
    ];
    return [...new Set(named)].filter((tenant) => tenant !== undefined);
  }

  /** Those of them whose views can be read. */
  get readable(): ReadonlySet<string> {
    if (this.#readable) return this.#readable;
    const tenants = new Set(this.tenants);
    this.#readable = new Set(this.reads.tenants.filter((tenant) => tenants.has(tenant)));
    return this.#readable;
  }

  get cards(): Promise<ReadonlyMap<string, Card>> {
    return this.#once('cards', async () => {
      const rows = await this.db.rows('select version::text, card::text from rate_cards');
      return new Map(rows.map(({ version, card }) => [version!, JSON.parse(card!) as Card]));
    });
  }

  /** One for each tenant. If its views cannot be read, the records are those that are rows. */
  async *ledgers(): AsyncGenerator<Ledger> {
    for (const tenant of this.tenants) {
      const ledger = await this.ledgerOf(tenant);
      if (ledger) yield ledger;
    }
  }

  ledgerOf(tenant: string): Promise<Ledger | undefined> {
    return this.#once(`ledger ${tenant}`, async () => {
      const [account] = await this.db.rows(
        `select balance, carry, coalesce(last_seq, 0) as last_seq from accounts where ${tenantOf('tenant_id')} = $1`,
        [tenant],
      );
      if (!account) return undefined;
      return {
        tenant,
        balance: BigInt(account.balance!),
        carry: BigInt(account.carry!),
        lastSeq: BigInt(account.last_seq!),
        postings: await this.#postingsOf(tenant),
        records: (await this.recordsOf(tenant)) ?? (await this.rowsOf(tenant)).map(({ record }) => record),
      };
    });
  }

  /** The list of records, in the order in which they were charged; `undefined`: it cannot be read. */
  recordsOf(tenant: string): Promise<readonly ListedRecord[] | undefined> {
    return this.#once(`records ${tenant}`, async () =>
      this.readable.has(tenant) ? this.#inOrder(await readRecords(this.reads, tenant)) : undefined,
    );
  }

  /** All pages of the ledger, in the order of the postings; `undefined`: it cannot be read. */
  entriesOf(tenant: string): Promise<readonly LedgerEntry[] | undefined> {
    return this.#once(`entries ${tenant}`, async () =>
      this.readable.has(tenant) ? this.#inOrder(await readLedger(this.reads, tenant)) : undefined,
    );
  }

  /** The list of events of a tenant that can be read, up to the newest one of the log as the database had it. */
  eventsOf(tenant: string): Promise<readonly ListedEvent[]> {
    return this.#once(`events ${tenant}`, async () => {
      const newest = (await this.logs).get(tenant)?.at(-1)?.seq ?? 0;
      return (await readEvents(this.reads, tenant)).filter(({ seq }) => seq <= newest);
    });
  }

  /** The log of each tenant of the campaign, in order. */
  get logs(): Promise<ReadonlyMap<string, readonly LoggedEvent[]>> {
    return this.#once('logs', async () => {
      const rows = await this.db.rows(
        `select ${tenantOf('tenant_id')} as tenant, seq, type, room_uid, at, subject from events
          where ${tenantOf('tenant_id')} = any ($1) order by tenant_id, seq`,
        [[...this.tenants]],
      );
      const events = rows.map((row) => ({
        tenant: row.tenant!,
        seq: Number(row.seq),
        type: row.type!,
        roomUid: row.room_uid!,
        at: row.at!,
        subject: JSON.parse(row.subject!) as Subject,
      }));
      return Map.groupBy(events, ({ tenant }) => tenant);
    });
  }

  /** Records that are rows, in the order in which they were charged. Archived ones are not. */
  rowsOf(tenant: string): Promise<readonly { seq: bigint; record: ListedRecord }[]> {
    return this.#once(`rows ${tenant}`, async () => {
      const rows = await this.db.rows(
        `select r.*, p.kind, p.at from usage_records r
           join postings p on p.tenant_id = r.tenant_id and p.seq = r.posting_seq
          where ${tenantOf('r.tenant_id')} = $1 order by r.posting_seq, r.line`,
        [tenant],
      );
      return rows.map((row) => ({ seq: BigInt(row.posting_seq!), record: recordOf(row) }));
    });
  }

  /** Operations of some kinds. */
  of(...ops: readonly string[]): readonly Entry[] {
    const name = ops.join(' ');
    const known = this.#byOps.get(name);
    if (known) return known;
    const wanted = new Set(ops);
    const found = this.journal.entries.filter(({ op }) => wanted.has(op));
    this.#byOps.set(name, found);
    return found;
  }

  async #postingsOf(tenant: string): Promise<Posting[]> {
    const rows = await this.db.rows(
      `select * from postings where ${tenantOf('tenant_id')} = $1 order by seq`,
      [tenant],
    );
    return rows.map((row) => ({
      seq: BigInt(row.seq!),
      kind: row.kind!,
      amount: BigInt(row.amount!),
      balanceBefore: BigInt(row.balance_before!),
      balance: BigInt(row.balance!),
      at: row.at!,
      rateVersion: row.rate_version!,
      rounding: row.rounding!,
      carry: row.carry === null ? null : BigInt(row.carry!),
      records: Number(row.records ?? 0),
      reference: row.reference!,
      detail: row.detail!,
      payment: row.payment_id!,
    }));
  }

  #inOrder<T extends object>(newestFirst: T[]): T[] {
    for (const item of newestFirst) this.journal.texts.onceIn(item);
    return newestFirst.reverse();
  }

  #once<T>(name: string, read: () => Promise<T>): Promise<T> {
    const found = this.#cache.get(name) ?? read();
    this.#cache.set(name, found);
    return found as Promise<T>;
  }
}

const ROLES: Readonly<Record<string, string>> = { h: 'host', a: 'audience', b: 'broadcast_audience' };
const TIERS: Readonly<Record<string, string>> = {
  a: 'audio',
  h: 'hd',
  f: 'full_hd',
  '2': '2k',
  k: '2k_plus',
};

/** A row in the form of the list. */
function recordOf(row: Row): ListedRecord {
  return {
    id: row.id!,
    ...(row.room !== null && { room: row.room! }),
    ...(row.participant !== null && { participant: row.participant! }),
    role: ROLES[row.role!]!,
    tier: TIERS[row.tier!]!,
    seconds: Number(row.seconds),
    egress_bytes: Number(row.egress_bytes),
    ingress_bytes: Number(row.ingress_bytes),
    total: { micros: Number(row.amount) },
    capped: isTrue(row.capped),
    unbilled: row.kind === 'unbilled',
    at: row.at!,
  };
}
