/** SQL of `conflict_notices`: the conflicts of a tenant that were not told yet. */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { CONFLICT_IDS_MAX, type ConflictingDuplicates } from './conflict-events.ts';

/** `ids` are the first ones, each once. The account must be locked. */
export async function addConflicts(
  tx: Tx,
  tenant: TenantId,
  { count, ids }: Pick<ConflictingDuplicates, 'count' | 'ids'>,
): Promise<void> {
  await tx.query({
    name: 'add-conflicts',
    text: `insert into conflict_notices as n (tenant_id, reports, first_at, ids) values ($1, $2, now(), $3)
           on conflict (tenant_id) do update
              set reports = n.reports + excluded.reports, first_at = coalesce(n.first_at, now()),
                  ids = (n.ids || array(select id from unnest(excluded.ids) with ordinality as e (id, place)
                                         where id <> all (n.ids) order by place))[1:${CONFLICT_IDS_MAX}]`,
    values: [tenant, count, ids],
  });
}

const RESET = `set told_at = now(), reports = 0, first_at = null, ids = '{}'`;
const UNTOLD = `tenant_id as tenant, reports::integer as count, first_at as "firstAt", ids`;
/** They were not told within the last `hours`, SQL. */
const isDue = (hours: string) =>
  `reports > 0 and (told_at is null or told_at <= now() - ${hours} * interval '1 hour')`;

/**
 * The conflicts of the tenant, if none were told within the last `hours`. From now on they are told. The account must be
 * locked.
 */
export async function takeConflicts(
  tx: Tx,
  tenant: TenantId,
  hours: number,
): Promise<ConflictingDuplicates | undefined> {
  const { rows } = await tx.query<ConflictingDuplicates>({
    name: 'take-conflicts',
    text: `with due as (
             select ${UNTOLD} from conflict_notices where tenant_id = $1 and ${isDue('$2')} for no key update
           )
           update conflict_notices n ${RESET} from due where n.tenant_id = due.tenant
           returning due.count, due."firstAt", due.ids`,
    values: [tenant, hours],
  });
  return rows[0];
}

/** The same of up to `limit` tenants, except of those to which a charge is adding at this moment. */
export async function takeWaitingConflicts(
  tx: Tx,
  hours: number,
  limit: number,
): Promise<(ConflictingDuplicates & { readonly tenant: TenantId })[]> {
  const { rows } = await tx.query<ConflictingDuplicates & { tenant: TenantId }>({
    name: 'take-waiting-conflicts',
    text: `with due as (
             select ${UNTOLD} from conflict_notices where ${isDue('$1')}
              order by told_at for no key update skip locked limit $2
           )
           update conflict_notices n ${RESET} from due where n.tenant_id = due.tenant
           returning due.tenant, due.count, due."firstAt", due.ids`,
    values: [hours, limit],
  });
  return rows;
}
