/** An operator grants credit to a tenant, or voids what is left of a grant. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Pool, Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { invalidField, invalidRequest, notFound } from '../../base/failure.ts';
import { newId } from '../../base/lib/ids.ts';
import { getTenant } from '../../base/tenants/get-tenant.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { type Account, lockAccount } from '../accounts/accounts.sql.ts';
import { displayMicros } from '../amount.ts';
import { mustConfirm, refuseOtherAmount } from '../ledger/adjustment.ts';
import { appendPosting } from '../ledger/ledger.sql.ts';
import { requestTopUpIfBelow } from '../top-ups/request-top-up.ts';
import { endDueGrants, takeLeft } from './end-grants.ts';
import { GRANT_MAX, GRANTS_OPEN_MAX, type Grant, LIFETIME_SECONDS_MIN } from './grant.ts';
import { findClock, findGrant, findGrantByKey, insertGrant } from './grants.sql.ts';

export interface GivenGrant {
  /** Micros. */
  readonly amount: bigint;
  /** Shown to the tenant. */
  readonly reason: string;
  /** `undefined`: it has no end. */
  readonly expiresAt: Date | undefined;
  /** Makes it idempotent: a tenant gets one grant for each key. */
  readonly key: string | undefined;
  /** The amount as it was typed the second time. Absent: no person asks, so nothing needs to be confirmed. */
  readonly confirmed?: { readonly amount: bigint | undefined };
}

/** `balance` is in micros; `posted` is false if there was nothing to do. */
export interface Granted {
  readonly grant: Grant;
  readonly balance: bigint;
  readonly posted: boolean;
}

/** Fails with `not_found`, or with `invalid_request`, also if the key was used for another grant. */
export async function grantCredit(
  db: Pool,
  actor: Actor,
  tenant: TenantId,
  given: GivenGrant,
): Promise<Granted> {
  return inTransaction(db, async (tx) => {
    const { status } = await getTenant(tx, tenant);
    const locked = await lockAccount(tx, tenant);
    const earlier = given.key === undefined ? undefined : await findGrantByKey(tx, tenant, given.key);
    if (earlier) {
      refuseOther(earlier, given);
      return { grant: earlier, balance: locked.balance, posted: false };
    }
    if (status === 'deleted') throw invalidRequest('the tenant is deleted');
    const { account, open } = await endDueGrants(tx, locked);
    if (open.length >= GRANTS_OPEN_MAX) {
      throw invalidRequest(`the tenant has ${open.length} grants that are not spent: void one first`);
    }
    await refuseGrant(tx, account, given);
    return post(tx, actor, account, given);
  });
}

/** Fails with `not_found`, or with `invalid_request` if it has ended. What was spent of it stays spent. */
export async function voidGrant(
  db: Pool,
  actor: Actor,
  tenant: TenantId,
  { id, reason }: { readonly id: string; readonly reason: string },
): Promise<Granted> {
  return inTransaction(db, async (tx) => {
    await getTenant(tx, tenant);
    const { account, open } = await endDueGrants(tx, await lockAccount(tx, tenant));
    const grant = await findGrant(tx, tenant, id);
    if (!grant) throw notFound('grant');
    if (grant.endedBy === 'expired') throw invalidRequest('this grant has expired');
    const lot = open.find(({ seq }) => seq === grant.seq);
    if (!lot) return { grant, balance: account.balance, posted: false };
    const after = await takeLeft(tx, account, lot, 'voided', reason);
    if (!after.exempt) await requestTopUpIfBelow(tx, after);
    const { balance } = after;
    await appendAudit(tx, tenant, actor, {
      action: 'grant_voided',
      subject: id,
      before: { balance_micros: account.balance },
      after: { balance_micros: balance, left_micros: lot.left, reason },
    });
    return { grant: (await findGrant(tx, tenant, id))!, balance, posted: true };
  });
}

async function post(tx: Tx, actor: Actor, account: Account, given: GivenGrant): Promise<Granted> {
  const { amount, reason, expiresAt = null, key } = given;
  const { tenant } = account;
  const id = newId('gr');
  const posting = { kind: 'grant', amount, reference: id, detail: reason } as const;
  const { lastSeq: seq, balance } = await appendPosting(tx, account, posting);
  const grant = await insertGrant(tx, tenant, { id, seq, amount, reason, expiresAt, key });
  await appendAudit(tx, tenant, actor, {
    action: 'credit_granted',
    subject: id,
    before: { balance_micros: account.balance },
    after: {
      balance_micros: balance,
      amount_micros: amount,
      expires_at: expiresAt?.toISOString() ?? null,
      reason,
    },
  });
  return { grant, balance, posted: true };
}

async function refuseGrant(tx: Tx, { tenant, lastSeq }: Account, given: GivenGrant): Promise<void> {
  const { amount, expiresAt, confirmed } = given;
  if (amount <= 0n || amount > GRANT_MAX) {
    throw invalidField('amount', `must be more than $0, and ${displayMicros(GRANT_MAX)} at most`);
  }
  if (confirmed && mustConfirm(amount, 0n).amount) refuseOtherAmount(amount, confirmed.amount);
  if (!expiresAt) return;
  const now = await findClock(tx, tenant, lastSeq);
  if (expiresAt.getTime() < now.getTime() + LIFETIME_SECONDS_MIN * 1000) {
    throw invalidField('expires', `must be ${LIFETIME_SECONDS_MIN} seconds ahead or more`);
  }
}

function refuseOther(earlier: Grant, { amount, expiresAt, reason }: GivenGrant): void {
  const isSame =
    earlier.amount === amount &&
    earlier.reason === reason &&
    earlier.expiresAt?.getTime() === expiresAt?.getTime();
  if (!isSame) throw invalidRequest('this id was used for another grant');
}
