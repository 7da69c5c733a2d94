/** SQL of `budget_holds`. Holds are locked before budgets, in the order of their keys. */
import type { Db, Tx } from '../../base/db/pool.ts';
import { countUpTo } from '../../base/tenants/places.sql.ts';
import { onServers } from '../../base/tenants/shares.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Role } from '../../money/pricing/role.ts';
import { DEAR_CAPABILITY, type Hold } from './hold.ts';

export interface HeldDevice {
  /** Names. */
  readonly room: string;
  readonly username: string;
  /** Thumbprint. */
  readonly device: string;
}

/** The tokens of a device that one key asked for, for one customer. */
export interface HoldKey extends HeldDevice {
  readonly keyId: string;
  readonly customer: string | null;
}

export interface StoredHold extends Hold, HoldKey {
  /** The uids of the budgets that it is part of. */
  readonly budgets: readonly string[];
}

/** A column of the primary key cannot be null: without a customer, it is empty. */
const COLUMNS = `h.room, h.username, h.device, h.key_id as "keyId", nullif(h.customer, '') as customer, h.rate, h.seconds, h.budgets,
  extract(epoch from h.until)::double precision as until`;
const BY_KEY = 'h.room, h.username, h.device, h.key_id, h.customer';

/** All holds of this device. */
export async function lockHoldsOfDevice(
  tx: Tx,
  tenant: TenantId,
  { room, username, device }: HeldDevice,
): Promise<StoredHold[]> {
  const { rows } = await tx.query<StoredHold>({
    name: 'lock-holds-of-device',
    text: `select ${COLUMNS} from budget_holds h
            where h.tenant_id = $1 and h.room = $2 and h.username = $3 and h.device = $4
            order by ${BY_KEY} for no key update`,
    values: [tenant, room, username, device],
  });
  return rows;
}

/** Counted up to `most`. */
export function countHoldsOfUser(
  tx: Tx,
  tenant: TenantId,
  { room, username }: Pick<HeldDevice, 'room' | 'username'>,
  most: number,
): Promise<number> {
  const holds = 'select from budget_holds where tenant_id = $1 and room = $2 and username = $3';
  return countUpTo(tx, 'count-holds-of-user', most, holds, [tenant, room, username]);
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

/** Up to `limit` holds after `after` (absent: from the first one), in the order of their keys. */
export async function listHolds(
  db: Db,
  tenant: TenantId,
  after: HoldKey | undefined,
  limit: number,
): Promise<StoredHold[]> {
  const { room = '', username = '', device = '', keyId = '', customer } = after ?? {};
  const { rows } = await db.query<StoredHold>({
    name: 'list-holds',
    text: `select ${COLUMNS} from budget_holds h
            where h.tenant_id = $1 and (${BY_KEY}) > ($2, $3, $4, $5, $6) order by ${BY_KEY} limit $7`,
    values: [tenant, room, username, device, keyId, customer ?? '', limit],
  });
  return rows;
}

/** Those of them that still exist. */
export async function lockHoldsAmong(
  tx: Tx,
  tenant: TenantId,
  holds: readonly HoldKey[],
): Promise<StoredHold[]> {
  const { rows } = await tx.query<StoredHold>({
    name: 'lock-holds-among',
    text: `select ${COLUMNS} from budget_holds h join ${RECORDS} on ${SAME}
            where h.tenant_id = $1 order by ${BY_KEY} for no key update of h`,
    values: [tenant, recordsOf(holds)],
  });
  return rows;
}

/** Every hold of these users. */
export async function lockHoldsOfUsers(
  tx: Tx,
  tenant: TenantId,
  usernames: readonly string[],
): Promise<StoredHold[]> {
  const { rows } = await tx.query<StoredHold>({
    name: 'lock-holds-of-users',
    text: `select ${COLUMNS} from budget_holds h where h.tenant_id = $1 and h.username = any($2)
            order by ${BY_KEY} for no key update`,
    values: [tenant, usernames],
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
            order by h.until limit $3 for no key update skip locked`,
    values: [tenant, before, limit],
  });
  return rows;
}

/** Tenants, other than `leftOut`, with holds whose last token expired before `before`. */
export async function listTenantsWithHoldsOver(
  db: Db,
  before: Date,
  limit: number,
  leftOut: readonly TenantId[],
): Promise<TenantId[]> {
  const rows = await onServers<{ tenant: TenantId }>(db, {
    name: 'list-tenants-with-holds-over',
    text: (tenants) => `select tenant_id as tenant from budget_holds
      where until <= $1 and tenant_id <> all($3::bigint[]) ${tenants.and('tenant_id', 4)}
      group by tenant_id order by min(until) limit $2`,
    values: [before, limit, leftOut],
  });
  return rows.map(({ tenant }) => tenant);
}

/** What a token of this role costs at most, in micros for a thousand participant-minutes. */
export interface RoleRate {
  readonly role: Role;
  /** Whether it has `DEAR_CAPABILITY`. */
  readonly isDear: boolean;
  readonly rate: bigint;
}

/** The newest token of a device, and a hold for all of its time, which may have been used and not reported yet. */
export type UnheldToken = Omit<StoredHold, 'budgets'>;

/**
 * Tokens that run and have no hold, or one that ends earlier or has a lower rate: they were admitted while their tenant had no
 * budgets. `oldest`: time before it counts no more, in seconds since 1970.
 */
export async function listUnheldTokens(
  tx: Tx,
  tenant: TenantId,
  rates: readonly RoleRate[],
  oldest: number,
): Promise<UnheldToken[]> {
  const { rows } = await tx.query<UnheldToken>({
    name: 'list-unheld-tokens',
    text: `select room, username, device, key_id as "keyId", customer, rate, until,
                  ceil(until - greatest(admitted, $6))::integer as seconds
             from (select distinct on (r.name, a.username, a.device) r.name as room, a.username, a.device, a.key_id, a.customer,
                          c.rate, extract(epoch from a.admitted_at)::double precision as admitted,
                          extract(epoch from a.expires_at)::double precision as until, a.expires_at
                     from admissions a
                     join rooms r on r.tenant_id = $1 and r.uid = a.room_uid
                     join unnest($2::text[], $3::boolean[], $4::bigint[]) as c (role, is_dear, rate)
                       on c.role = a.role and c.is_dear = ($5 = any(a.capabilities))
                    where a.tenant_id = $1 and a.expires_at > now()
                    order by r.name, a.username, a.device, a.expires_at desc) as token
            where not exists (select from budget_holds h
                               where h.tenant_id = $1 and h.room = token.room and h.username = token.username
                                 and h.device = token.device and h.key_id = token.key_id
                                 and (token.customer is null or h.customer = token.customer)
                                 and h.until >= token.expires_at and h.rate >= token.rate)`,
    values: [
      tenant,
      rates.map(({ role }) => role),
      rates.map(({ isDear }) => isDear),
      rates.map(({ rate }) => rate),
      DEAR_CAPABILITY,
      oldest,
    ],
  });
  return rows;
}

const SAME = `h.room = n.room and h.username = n.username and h.device = n.device and h.key_id = n.key_id
  and h.customer = n.customer`;

const RECORDS = `json_to_recordset($2) as n (room text, username text, device text, key_id text, customer text, rate bigint,
  seconds integer, until double precision, budgets text[])`;

/** Some statements need only the key. */
function recordsOf(holds: readonly (HoldKey & Partial<StoredHold>)[]): string {
  return JSON.stringify(
    holds.map(({ keyId, customer, rate, ...hold }) => {
      return { ...hold, key_id: keyId, customer: customer ?? '', rate: rate?.toString() };
    }),
  );
}

/** Leaves alone what is there by now. Returns how many it inserted. */
export async function insertHolds(tx: Tx, tenant: TenantId, holds: readonly StoredHold[]): Promise<number> {
  if (holds.length === 0) return 0;
  const { rowCount } = await tx.query({
    name: 'insert-holds',
    text: `insert into budget_holds (tenant_id, room, username, device, key_id, customer, rate, seconds, until, budgets)
           select $1, room, username, device, key_id, customer, rate, seconds, to_timestamp(until), budgets from ${RECORDS}
           on conflict do nothing`,
    values: [tenant, recordsOf(holds)],
  });
  return rowCount ?? 0;
}

/** They must be locked. */
export async function updateHolds(tx: Tx, tenant: TenantId, holds: readonly StoredHold[]): Promise<void> {
  if (holds.length === 0) return;
  await tx.query({
    name: 'update-holds',
    text: `update budget_holds h
              set rate = n.rate, seconds = n.seconds, until = to_timestamp(n.until), budgets = n.budgets
             from ${RECORDS}
            where h.tenant_id = $1 and ${SAME}`,
    values: [tenant, recordsOf(holds)],
  });
}

/** The time that is left of locked holds. */
export async function updateSeconds(tx: Tx, tenant: TenantId, holds: readonly StoredHold[]): Promise<void> {
  if (holds.length === 0) return;
  await tx.query({
    name: 'use-holds',
    text: `update budget_holds h set seconds = n.seconds
             from ${RECORDS}
            where h.tenant_id = $1 and ${SAME}`,
    values: [tenant, recordsOf(holds)],
  });
}

export async function deleteHolds(tx: Tx, tenant: TenantId, holds: readonly HoldKey[]): Promise<void> {
  if (holds.length === 0) return;
  await tx.query({
    name: 'delete-holds',
    text: `delete from budget_holds h using ${RECORDS}
            where h.tenant_id = $1 and ${SAME}`,
    values: [tenant, recordsOf(holds)],
  });
}
