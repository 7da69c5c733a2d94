/** SQL of `budget_holds`. Holds are locked before budgets, in the order of their keys. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import { countUpTo } from '../../base/tenants/places.sql.ts';
import { onServers } from '../../base/tenants/shares.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Role } from '../../money/pricing/role.ts';
import type { Budget, BudgetScope } from './budget.ts';
import { DEAR_CAPABILITY, type Hold, RATE_SECONDS } from './hold.ts';

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

/** Those of them that still exist. */
export async function lockHoldsAmong(
  tx: Tx,
  tenant: TenantId,
  holds: readonly HoldKey[],
): Promise<StoredHold[]> {
  if (holds.length === 0) return [];
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
 * The newest token of each device that runs, if no hold covers it up to its end at its rate. `$2` to `$4`: roles, whether they are dear,
 * and rates. `$5`: `DEAR_CAPABILITY`.
 */
const UNHELD = `(select distinct on (r.name, a.username, a.device) r.name as room, a.username, a.device, a.key_id, a.customer, c.rate,
                        a.admitted_at, a.expires_at
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
                               and h.until >= token.expires_at and h.rate >= token.rate)`;
/** `$6`: time before it counts no more, in seconds since 1970. */
const UNHELD_SECONDS = `ceil(extract(epoch from expires_at) - greatest(extract(epoch from admitted_at), $6))::integer`;

/** Tokens that run and had no hold, or too little of one: they were admitted while their tenant had no budgets. */
export interface Unheld {
  /** How many had no hold. They have one without budgets now. */
  readonly inserted: number;
  /** Those whose hold ends earlier or has a lower rate. */
  readonly lacking: readonly UnheldToken[];
}

/** Up to `limit` of them. */
export async function insertUnheld(
  tx: Tx,
  tenant: TenantId,
  rates: readonly RoleRate[],
  oldest: number,
  limit: number,
): Promise<Unheld> {
  const { rows } = await tx.query<UnheldToken & { inserted: number }>({
    name: 'insert-unheld-tokens',
    // The last part sees the holds that were there before.
    text: `with token as materialized (
             select room, username, device, key_id, coalesce(customer, '') as customer, rate, ${UNHELD_SECONDS} as seconds, expires_at
               from ${UNHELD} limit $7
           ), inserted as (
             insert into budget_holds (tenant_id, room, username, device, key_id, customer, rate, seconds, until, budgets)
             select $1, room, username, device, key_id, customer, rate, seconds, expires_at, '{}' from token
             on conflict do nothing returning 1
           )
           select i.inserted, n.room, n.username, n.device, n.key_id as "keyId", nullif(n.customer, '') as customer, n.rate, n.seconds,
                  extract(epoch from n.expires_at)::double precision as until
             from (select count(*)::integer as inserted from inserted) i
             left join token n on exists (select from budget_holds h where h.tenant_id = $1 and ${SAME})`,
    values: [
      tenant,
      rates.map(({ role }) => role),
      rates.map(({ isDear }) => isDear),
      rates.map(({ rate }) => rate),
      DEAR_CAPABILITY,
      oldest,
      limit,
    ],
  });
  return { inserted: rows[0]!.inserted, lacking: rows.filter(({ room }) => room !== null) };
}

/** Holds that a budget covers from now on, and what they hold in micros. */
export interface NewlyCovered {
  readonly holds: number;
  readonly held: bigint;
}

/**
 * Add a budget to holds that it covers and that lack it, up to `limit`. They lose budgets that are not among `existing`. The tenant
 * must be locked, so that its budgets stay the same meanwhile.
 */
export async function coverHolds(
  tx: Tx,
  tenant: TenantId,
  { uid, keyId, room, customer }: Pick<Budget, 'uid' | keyof BudgetScope>,
  existing: readonly string[],
  limit: number,
): Promise<NewlyCovered> {
  const lacking = {
    key: keyId !== null && (['h.key_id = ?', keyId] as const),
    room: room !== null && (['h.room like ?', likeOf(room)] as const),
    customer: customer !== null && (['h.customer = ?', customer] as const),
  };
  const toLock = filtered('lock-lacking-holds', [tenant, uid, limit], lacking);
  const locked = await tx.query<{ holds: number; last: string[] }>({
    name: toLock.name,
    text: `select count(*) over ()::integer as holds, array[${BY_KEY}] as last
             from (select ${BY_KEY} from budget_holds h
                    where h.tenant_id = $1 and $2 <> all(h.budgets)${toLock.where} order by ${BY_KEY} limit $3 for no key update) h
            order by ${BY_KEY.replaceAll(',', ' desc,')} desc limit 1`,
    values: toLock.values,
  });
  const [found] = locked.rows;
  if (!found) return { holds: 0, held: 0n };
  const toCover = filtered('cover-holds', [tenant, uid, existing, ...found.last], lacking);
  const { rows } = await tx.query<{ held: bigint }>({
    name: toCover.name,
    // Up to the last one that is locked, and not by a join: without statistics, its plan may read all holds for each.
    text: `with covered as (
             update budget_holds h
                set budgets = array(select each from unnest(h.budgets) as each where each = any($3)) || $2::text
              where h.tenant_id = $1 and $2 <> all(h.budgets) and (${BY_KEY}) <= ($4, $5, $6, $7, $8)${toCover.where}
             returning ${AMOUNT} as amount
           )
           select coalesce(sum(amount), 0)::bigint as held from covered`,
    values: toCover.values,
  });
  return { holds: found.holds, held: rows[0]!.held };
}

/** As `amountOf()` has it. */
const AMOUNT = `(h.rate * h.seconds + ${RATE_SECONDS - 1n}) / ${RATE_SECONDS}`;

/** What `matchesRoom()` says of a pattern, for `like`. */
function likeOf(pattern: string): string {
  return pattern.replace(/[\\%_]/g, '\\$&').replaceAll('*', '%');
}

const SAME = `h.room = n.room and h.username = n.username and h.device = n.device and h.key_id = n.key_id
  and h.customer = n.customer`;

const RECORDS = `json_to_recordset($2) as n (room text, username text, device text, key_id text, customer text, rate bigint,
  seconds integer, until double precision, budgets text[])`;

function keyOf({ room, username, device, keyId, customer }: HoldKey): HoldKey {
  return { room, username, device, keyId, customer };
}

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
export async function updateSeconds(
  tx: Tx,
  tenant: TenantId,
  holds: readonly (HoldKey & Pick<Hold, 'seconds'>)[],
): Promise<void> {
  if (holds.length === 0) return;
  await tx.query({
    name: 'use-holds',
    text: `update budget_holds h set seconds = n.seconds
             from ${RECORDS}
            where h.tenant_id = $1 and ${SAME}`,
    // Without their budgets, which are most of a hold.
    values: [tenant, recordsOf(holds.map(({ seconds, ...hold }) => ({ ...keyOf(hold), seconds })))],
  });
}

export async function deleteHolds(tx: Tx, tenant: TenantId, holds: readonly HoldKey[]): Promise<void> {
  if (holds.length === 0) return;
  await tx.query({
    name: 'delete-holds',
    text: `delete from budget_holds h using ${RECORDS}
            where h.tenant_id = $1 and ${SAME}`,
    values: [tenant, recordsOf(holds.map(keyOf))],
  });
}
