/**
 * SQL shared by `api_keys` and `device_credentials`: the life of a key until it is revoked or replaced. It
 * uses the clock of the database, the only one that all processes share.
 */
import { clock } from '../../base/db/distribution.ts';
import type { Tx } from '../../base/db/pool.ts';
import { lockReferenceTables } from '../../base/db/reference-tables.sql.ts';
import { countUpTo } from '../../base/tenants/places.sql.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { NOT_EXPIRED } from '../rights/working-key.sql.ts';
import type { KeyRetirement } from './key-events.ts';

type KeyTable = 'api_keys' | 'device_credentials';

/**
 * How many keys of a tenant are in use, up to `most`: neither revoked, nor replaced, nor expired. A rotation
 * does not change this number.
 */
export async function countInUse(tx: Tx, table: KeyTable, tenant: TenantId, most: number): Promise<number> {
  const notExpired = table === 'device_credentials' ? `and ${NOT_EXPIRED}` : '';
  return countUpTo(
    tx,
    `count-in-use-${table}`,
    most,
    `select from ${table} where tenant_id = $1 and revoked_at is null and retires_at is null ${notExpired}`,
    [tenant],
  );
}

/** How many replaced keys of a tenant still work, up to `most`. */
export async function countRetiring(
  tx: Tx,
  table: KeyTable,
  tenant: TenantId,
  most: number,
): Promise<number> {
  return countUpTo(
    tx,
    `count-retiring-${table}`,
    most,
    `select from ${table} where tenant_id = $1 and revoked_at is null and retires_at > now()`,
    [tenant],
  );
}

/** How many device credentials of a tenant were revoked within `seconds`, up to `most`. */
export async function countRevoked(tx: Tx, tenant: TenantId, seconds: number, most: number): Promise<number> {
  return countUpTo(
    tx,
    'count-revoked-credentials',
    most,
    'select from device_credentials where tenant_id = $1 and revoked_at > now() - make_interval(secs => $2)',
    [tenant, seconds],
  );
}

export async function markRevoked(tx: Tx, table: KeyTable, tenant: TenantId, id: string): Promise<void> {
  await tx.query({
    name: `mark-revoked-${table}`,
    text: `update ${table} set revoked_at = ${clock()} where tenant_id = $1 and id = $2`,
    values: [tenant, id],
  });
}

/** Returns when the key stops working. `noticeSeconds` before that, `key_retiring` is due; `undefined`: never. */
export async function markRetiring(
  tx: Tx,
  table: KeyTable,
  tenant: TenantId,
  id: string,
  { overlapSeconds, noticeSeconds }: { overlapSeconds: number; noticeSeconds: number | undefined },
): Promise<Date> {
  const { rows } = await tx.query<{ retiresAt: Date }>({
    name: `mark-retiring-${table}`,
    text: `update ${table}
              set retires_at = t.at, retirement_notice_at = t.at - make_interval(secs => $4)
             from (select date_trunc('milliseconds', now()) + make_interval(secs => $3) as at) t
            where tenant_id = $1 and id = $2 returning retires_at as "retiresAt"`,
    values: [tenant, id, overlapSeconds, noticeSeconds],
  });
  return rows[0]!.retiresAt;
}

const KINDS: Readonly<Record<KeyTable, string>> = {
  api_keys: 'k.kind',
  device_credentials: `'device'`,
};

/**
 * Up to `limit` replaced keys for which `key_retiring` is due. From now on they are told. A key that another
 * transaction has locked, to revoke it, is left for the next time.
 */
export async function takeRetiringKeys(
  tx: Tx,
  table: KeyTable,
  limit: number,
): Promise<(KeyRetirement & { readonly tenant: TenantId })[]> {
  const notExpired = table === 'device_credentials' ? `and ${NOT_EXPIRED}` : '';
  await lockReferenceTables(tx);
  const { rows } = await tx.query<KeyRetirement & { tenant: TenantId }>({
    name: `take-retiring-${table}`,
    text: `with due as (
             select r.tenant_id, r.id from ${table} r join tenants t on t.id = r.tenant_id
              where r.revoked_at is null and r.retirement_notice_at <= now() and t.status <> 'deleted'
                and r.retires_at > now() ${notExpired}
              order by r.retirement_notice_at for no key update of r skip locked limit $1
           )
           update ${table} k set retirement_notice_at = null from due
            where k.tenant_id = due.tenant_id and k.id = due.id
           returning k.tenant_id as tenant, k.id as "keyId", k.name, ${KINDS[table]} as kind,
                     k.retires_at as "retiresAt"`,
    values: [limit],
  });
  return rows;
}
