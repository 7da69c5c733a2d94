/**
 * Work through the tables of a tenant for those who are to be erased, one part in one transaction.
 *
 * Any number of processes do this at once. A process that dies in the middle of a part has changed nothing, and
 * another one takes the same part.
 */
import type { Pool, Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { BaseDeps } from '../../base/deps.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import { erasePart } from './erase-part.ts';
import {
  type Claim,
  claimErasures,
  type ErasureKey,
  finishErasures,
  moveErasures,
  postponeErasures,
} from './erasures.sql.ts';

const RETRY_SECONDS = 60;

/**
 * Do a part of the oldest pending erasure, and of those that go with it. `soon` is called with a pause as long as the
 * part took, so that an erasure leaves half of a connection's time to others.
 */
export async function advanceErasures(
  deps: Pick<BaseDeps, 'db' | 'log'>,
  soon: (ms: number) => void,
): Promise<void> {
  const begun = performance.now();
  if (await advance(deps)) soon(performance.now() - begun);
}

async function advance({ db, log }: Pick<BaseDeps, 'db' | 'log'>): Promise<boolean> {
  let claim: Claim | undefined;
  try {
    return await inTransaction(db, async (tx) => {
      claim = await claimErasures(tx);
      return claim ? work(tx, claim) : false;
    });
  } catch (error) {
    if (!claim) throw error;
    await postponeErasures(db, claim, RETRY_SECONDS);
    const { tenant, step, erasures } = claim;
    const ids = erasures.map(({ id }) => id);
    log.error(
      { err: error, tenant: renderTenantId(tenant), erasures: ids, step },
      'an erasure failed; it goes on later',
    );
    return true;
  }
}

/** Do a part of this erasure. False if it is done, or if another process is at work on it. */
export function advanceErasure(db: Pool, erasure: ErasureKey): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const claim = await claimErasures(tx, erasure);
    return claim ? work(tx, claim) : false;
  });
}

async function work(tx: Tx, claim: Claim): Promise<true> {
  const { next, erased } = await erasePart(tx, claim);
  if (next) await moveErasures(tx, claim, next, erased);
  else await finishErasures(tx, claim, erased);
  return true;
}
