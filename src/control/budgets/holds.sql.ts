/** SQL of `budget_holds`. Holds are locked before budgets, in the order of their keys. */
import type { Db, Tx } from '../../base/db/pool.ts';
import { onServers } from '../../base/tenants/shares.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Role } from '../../money/pricing/role.ts';
import type { Hold } from './hold.ts';

export interface HoldKey {
  /** Names. */
  readonly room: string;
  readonly username: string;
  /** Thumbprint. */
  readonly device: string;
}

export interface StoredHold extends Hold, HoldKey {
  /** The key of the newest token. */
  readonly keyId: string;
  readonly customer: string | null;
  /** The uids of the budgets that it is part of. */
  readonly budgets: readonly string[];
}

const COLUMNS = `h.room, h.username, h.device, h.key_id as "keyId", h.customer, h.rate, h.seconds, h.budgets,
  extract(epoch from h.until)::double precision as until`;
const BY_KEY = 'h.room, h.username, h.device';

export async function lockHold(tx: Tx, tenant: TenantId, key: HoldKey): Promise<StoredHold | undefined> {
  const { rows } = await tx.query<StoredHold>({
    name: 'lock-hold',
    text: `select ${COLUMNS} from budget_holds h
            where h.tenant_id = $1 and h.room = $2 and h.username = $3 and h.device = $4 for no key update`,
    values: [tenant, key.room, key.username, key.device],
  });
  return rows[0];
}

/** All holds of these participants. */
export async function lockHoldsOf(
  tx: Tx,
  tenant: TenantId,
  participants: readonly { readonly room: string; readonly participant: string }[],
): Promise<StoredHold[]> {
  const { rows } = await tx.query<StoredHold>({
    name: 'lock-holds-of-participants',
    text: `select ${COLUMNS} from budget_holds h
            where h.tenant_id = $1 and (h.room, h.username) in (select * from unnest($2::text[], $3::text[]))
            order by ${BY_KEY} for no key update`,
    values: [tenant, participants.map(({ room }) => room), participants.map((each) => each.participant)],
  });
  return rows;
}

/** Every hold of the tenant, or of the user. */
export async function lockHolds(
  tx: Tx,
  tenant: TenantId,
  usernames?: readonly string[],
): Promise<StoredHold[]> {
  const { rows } = await tx.query<StoredHold>({
    name: usernames ? 'lock-holds-of-users' : 'lock-holds',
    text: `select ${COLUMNS} from budget_holds h
            where h.tenant_id = $1 ${usernames ? 'and h.username = any($2)' : ''}
            order by ${BY_KEY} for no key update`,
    values: usernames ? [tenant, usernames] : [tenant],
  });
  return rows;
}

/** Holds whose last token expired before `before`, up to `limit`. Leaves out those that are locked. */
export async function lockHoldsOver(
  tx: Tx,
  tenant: TenantId,
  before: Date,
  limit: number,
): Promise<StoredHold[]> {
  const { rows } = await tx.query<StoredHold>({
    name: 'lock-holds-over',
    text: `select ${COLUMNS} from budget_holds h where h.tenant_id = $1 and h.until <= $2
            order by ${BY_KEY} limit $3 for no key update skip locked`,
    values: [tenant, before, limit],
  });
  return rows;
}

/** Tenants with holds whose last token expired before `before`. */
export async function listTenantsWithHoldsOver(db: Db, before: Date, limit: number): Promise<TenantId[]> {
  const rows = await onServers<{ tenant: TenantId }>(db, {
    name: 'list-tenants-with-holds-over',
    text: (
      tenants,
    ) => `select tenant_id as tenant from budget_holds where until <= $1 ${tenants.and('tenant_id', 3)}
      group by tenant_id order by min(until) limit $2`,
    values: [before, limit],
  });
  return rows.map(({ tenant }) => tenant);
}

/** The newest token of a device, which runs. Times are in seconds since 1970. */
export interface RunningToken extends HoldKey {
  readonly role: Role;
  readonly capabilities: readonly string[];
  readonly keyId: string;
  readonly customer: string | null;
  readonly admittedAt: number;
  readonly until: number;
  /** The rate of its hold; `null`: it has none, or one that ends before it. */
  readonly heldRate: bigint | null;
}

/** Each token that runs in a room of the tenant. */
export async function listRunningTokens(tx: Tx, tenant: TenantId): Promise<RunningToken[]> {
  const { rows } = await tx.query<RunningToken>({
    name: 'list-running-tokens',
    text: `select distinct on (r.name, a.username, a.device) r.name as room, a.username, a.device, a.role, a.capabilities,
                  a.key_id as "keyId", a.customer, extract(epoch from a.admitted_at)::double precision as "admittedAt",
                  extract(epoch from a.expires_at)::double precision as until,
                  case when h.until >= a.expires_at then h.rate end as "heldRate"
             from admissions a join rooms r on r.tenant_id = $1 and r.uid = a.room_uid
             left join budget_holds h
               on h.tenant_id = $1 and h.room = r.name and h.username = a.username and h.device = a.device
            where a.tenant_id = $1 and a.expires_at > now()
            order by r.name, a.username, a.device, a.expires_at desc`,
    values: [tenant],
  });
  return rows;
}

/** Without budgets so far. A hold of an earlier token gets the time or the rate that it lacks; others stay as they are. */
export async function insertHolds(
  tx: Tx,
  tenant: TenantId,
  holds: readonly Omit<StoredHold, 'budgets'>[],
): Promise<void> {
  if (holds.length === 0) return;
  await tx.query({
    name: 'insert-holds',
    text: `insert into budget_holds as o (tenant_id, room, username, device, key_id, customer, rate, seconds, until, budgets)
           select $1, room, username, device, key_id, customer, rate, seconds, to_timestamp(until), '{}'
             from json_to_recordset($2) as n (room text, username text, device text, key_id text, customer text,
                    rate bigint, seconds integer, until double precision)
           on conflict (tenant_id, room, username, device) do update
              set key_id = excluded.key_id, customer = excluded.customer, budgets = excluded.budgets,
                  rate = greatest(o.rate, excluded.rate), until = greatest(o.until, excluded.until),
                  seconds = o.seconds + greatest(0, least(excluded.seconds,
                              ceil(extract(epoch from excluded.until - o.until))))
            where o.until < excluded.until or o.rate < excluded.rate`,
    values: [
      tenant,
      JSON.stringify(holds.map(({ keyId, rate, ...hold }) => ({ ...hold, key_id: keyId, rate: `${rate}` }))),
    ],
  });
}

export async function upsertHold(tx: Tx, tenant: TenantId, hold: StoredHold): Promise<void> {
  const { room, username, device, keyId, customer, rate, seconds, until, budgets } = hold;
  await tx.query({
    name: 'upsert-hold',
    text: `insert into budget_holds (tenant_id, room, username, device, key_id, customer, rate, seconds, until, budgets)
           values ($1, $2, $3, $4, $5, $6, $7, $8, to_timestamp($9::double precision), $10)
           on conflict (tenant_id, room, username, device) do update
              set key_id = excluded.key_id, customer = excluded.customer, rate = excluded.rate,
                  seconds = excluded.seconds, until = excluded.until, budgets = excluded.budgets`,
    values: [tenant, room, username, device, keyId, customer, rate, seconds, until, budgets],
  });
}

const SAME = 'h.room = c.room and h.username = c.username and h.device = c.device';

/** The time that is left of locked holds. */
export async function updateSeconds(tx: Tx, tenant: TenantId, holds: readonly StoredHold[]): Promise<void> {
  if (holds.length === 0) return;
  await tx.query({
    name: 'use-holds',
    text: `update budget_holds h set seconds = c.seconds
             from json_to_recordset($2) as c (room text, username text, device text, seconds integer)
            where h.tenant_id = $1 and ${SAME}`,
    values: [
      tenant,
      JSON.stringify(
        holds.map(({ room, username, device, seconds }) => ({ room, username, device, seconds })),
      ),
    ],
  });
}

/** Make locked holds part of one more budget. */
export async function addBudgetToHolds(
  tx: Tx,
  tenant: TenantId,
  uid: string,
  holds: readonly HoldKey[],
): Promise<void> {
  if (holds.length === 0) return;
  await tx.query({
    name: 'add-budget-to-holds',
    text: `update budget_holds h set budgets = h.budgets || $3::text
             from json_to_recordset($2) as c (room text, username text, device text)
            where h.tenant_id = $1 and ${SAME}`,
    values: [tenant, keysOf(holds), uid],
  });
}

export async function deleteHolds(tx: Tx, tenant: TenantId, holds: readonly HoldKey[]): Promise<void> {
  if (holds.length === 0) return;
  await tx.query({
    name: 'delete-holds',
    text: `delete from budget_holds h using json_to_recordset($2) as c (room text, username text, device text)
            where h.tenant_id = $1 and ${SAME}`,
    values: [tenant, keysOf(holds)],
  });
}

function keysOf(holds: readonly HoldKey[]): string {
  return JSON.stringify(holds.map(({ room, username, device }) => ({ room, username, device })));
}
