/** SQL that erases names of participants from `sessions` and `session_sums`. The sums stay. */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { waitForTurn } from '../../events/turns.sql.ts';
import { ERASED } from '../../money/records/usage-record.ts';
import { waitForAssigning } from './session-cursors.sql.ts';
import { sessionListener } from './session-listener.ts';
import { eraseInSums } from './session-sums.sql.ts';

const SESSIONS_AT_ONCE = 500;

/**
 * Erase these names, and the devices with them, from some sessions. Returns how many have lost each name, and whether there may be
 * more. A turn of the listener that read events before their names were erased ends first, and so does one that assigns usage: once no
 * session has the name, none can add to its sums again.
 */
export async function eraseInSessions(
  tx: Tx,
  tenant: TenantId,
  names: readonly string[],
): Promise<{ readonly isMore: boolean; readonly erased: ReadonlyMap<string, number> }> {
  await waitForTurn(tx, sessionListener, tenant);
  await waitForAssigning(tx, tenant);
  const { rows } = await tx.query<{ name: string; count: number }>({
    name: 'erase-in-sessions',
    text: `with found as materialized (
             select id, participant from sessions where tenant_id = $1 and participant = any($2)
              limit ${SESSIONS_AT_ONCE} for no key update
           ), erased as (
             update sessions set participant = '${ERASED}', devices = '{}'
              where tenant_id = $1 and id = any(array(select id from found))
           )
           select participant as name, count(*)::integer as count from found group by participant`,
    values: [tenant, names],
  });
  const count = rows.reduce((sum, each) => sum + each.count, 0);
  const isMore = count === SESSIONS_AT_ONCE;
  if (!isMore) await eraseInSums(tx, tenant, names);
  return {
    isMore,
    erased: new Map(rows.map((each) => [each.name, each.count])),
  };
}
