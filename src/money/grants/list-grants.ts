/** Grants of a tenant, newest first, with what is left of each. */
import type { Pool } from '../../base/db/pool.ts';
import { inSnapshot } from '../../base/db/transaction.ts';
import { type Page, readPage } from '../../base/lib/page.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findAccount } from '../accounts/accounts.sql.ts';
import type { Grant, GrantNow } from './grant.ts';
import { findClock, findGrant, findGrantsBefore } from './grants.sql.ts';
import { type ReadLot, readLots } from './read-lots.ts';

export const GRANTS_PAGE_SIZE = 100;

export interface ListedGrants extends Page<GrantNow> {
  /** What is left of all grants, those of other pages too, in micros. */
  readonly left: bigint;
}

const FROM_NEWEST = 2n ** 63n - 1n;

/** `after` is the id of the last grant of the previous page. Returns `undefined` if there is no such grant. */
export async function listGrants(
  db: Pool,
  tenant: TenantId,
  after?: string,
  size = GRANTS_PAGE_SIZE,
): Promise<ListedGrants | undefined> {
  return inSnapshot(db, async (tx) => {
    const last = after === undefined ? undefined : await findGrant(tx, tenant, after);
    if (after !== undefined && !last) return undefined;
    const { lastSeq } = await findAccount(tx, tenant);
    const { lots } = await readLots(tx, tenant, {
      at: await findClock(tx, tenant, lastSeq),
      seq: lastSeq,
    });
    const bySeq = new Map(lots.map((lot) => [lot.seq, lot]));
    const page = await readPage(size, (limit) =>
      findGrantsBefore(tx, tenant, last?.seq ?? FROM_NEWEST, limit),
    );
    return {
      items: page.items.map((grant) => grantNow(grant, bySeq.get(grant.seq))),
      end: page.end && grantNow(page.end, undefined),
      left: lots.reduce((sum, { isOver, left }) => (isOver ? sum : sum + left), 0n),
    };
  });
}

/** A grant whose end has come is shown as ended, also before the posting. */
function grantNow(grant: Grant, lot: ReadLot | undefined): GrantNow {
  if (grant.endedBy || !lot) return { ...grant, left: 0n, state: grant.endedBy ?? 'spent' };
  const { isOver, left, expiresAt } = lot;
  if (left === 0n) return { ...grant, left, state: 'spent' };
  if (isOver) return { ...grant, left: 0n, forfeited: left, endedAt: expiresAt, state: 'expired' };
  return { ...grant, left, state: 'active' };
}
