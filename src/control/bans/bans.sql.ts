/** SQL of `bans`. */
import { filtered } from '../../base/db/filtered.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import { newId } from '../../base/lib/ids.ts';
import { countUpTo } from '../../base/tenants/places.sql.ts';
import { changeInShares } from '../../base/tenants/shares.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Ban, Subject } from './ban.ts';

/** The columns of a `Ban`, from `bans b`. */
const BAN = `b.id, b.room, b.room_uid as "roomUid",
  json_build_object('kind', b.kind, 'value', b.value) as subject, b.created_at as "createdAt",
  b.expires_at as "expiresAt", b.reason, b.actor, b.rank`;

/** A ban ends when it is lifted, or when it expires. */
const ACTIVE = 'b.lifted_at is null and (b.expires_at is null or b.expires_at > now())';

/** Whether ranges of addresses are banned from the room `r` of the tenant `$1`, because they were from an earlier one of its name. */
export const HAS_BANNED_RANGES = `exists (select from bans b
  where b.tenant_id = $1 and b.room = r.name and b.kind = 'cidr' and ${ACTIVE})`;

/**
 * Whether an active ban covers an entrant: the user, the device or the address, in rooms of the name or in all rooms.
 * The values are SQL: columns or parameters.
 */
export function bansOf(entrant: {
  readonly tenant: string;
  readonly room: string;
  readonly username: string;
  readonly thumbprint: string;
  readonly address: string;
}): string {
  const { tenant, room, username, thumbprint, address } = entrant;
  return `exists (select from bans b
                   where b.tenant_id = ${tenant} and ${ACTIVE}
                     and (b.room_uid is null or b.room = ${room})
                     and (b.kind = 'user' and b.value = ${username} or b.kind = 'device' and b.value = ${thumbprint}
                          or b.kind = 'cidr' and b.network >>= ${address}::inet))`;
}

export interface NewBan extends Pick<Ban, 'room' | 'roomUid' | 'subject' | 'reason' | 'actor' | 'rank'> {
  /** `null`: permanent. */
  readonly ttlMs: number | null;
}

/** Set a ban. Returns the existing one if the same ban is active. */
export async function insertBan(tx: Tx, tenant: TenantId, ban: NewBan): Promise<Ban & { isNew: boolean }> {
  const { room, roomUid, subject, reason, actor, rank, ttlMs } = ban;
  await tx.query({
    name: 'lift-expired-ban',
    text: `update bans set lifted_at = now()
            where tenant_id = $1 and kind = $3 and value = $4 and coalesce(room, '') = coalesce($2, '')
              and lifted_at is null and expires_at <= now()`,
    values: [tenant, room, subject.kind, subject.value],
  });
  const id = newId('ban');
  const network = subject.kind === 'cidr' ? subject.value : null;
  // The update changes nothing. It waits for concurrent changes of the same ban, and returns the row.
  const { rows } = await tx.query<Ban>({
    name: 'insert-ban',
    text: `with b as (
             insert into bans (tenant_id, id, room_uid, kind, value, network, reason, actor, rank, expires_at, room)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + make_interval(secs => $10::bigint / 1000.0), $11)
             on conflict (tenant_id, kind, value, coalesce(room, '')) where lifted_at is null
               do update set lifted_at = null
             returning *
           )
           select ${BAN} from b`,
    values: [tenant, id, roomUid, subject.kind, subject.value, network, reason, actor, rank, ttlMs, room],
  });
  return { ...rows[0]!, isNew: rows[0]!.id === id };
}

/**
 * Make a ban as strong as the given one: it gets the later end, the higher rank with its actor, and the new
 * reason. `undefined` if it is already as strong; then it does not change.
 */
export async function strengthenBan(
  tx: Tx,
  tenant: TenantId,
  id: string,
  { rank, actor, reason, ttlMs }: NewBan,
): Promise<Ban | undefined> {
  const end = `coalesce(t.ends_at, 'infinity')`;
  const { rows } = await tx.query<Ban>({
    name: 'strengthen-ban',
    text: `with b as (
             update bans
                set expires_at = nullif(greatest(coalesce(expires_at, 'infinity'), ${end}), 'infinity'),
                    actor = case when $3 > rank then $4 else actor end,
                    rank = greatest(rank, $3), reason = $5, set_at = now()
               from (select now() + make_interval(secs => $6::bigint / 1000.0) as ends_at) as t
              where tenant_id = $1 and id = $2
                and ($3 > rank or ${end} > coalesce(expires_at, 'infinity'))
             returning bans.*
           )
           select ${BAN} from b`,
    values: [tenant, id, rank, actor, reason, ttlMs],
  });
  return rows[0];
}

/** The active ban of exactly this scope and subject, locked so that no other call can lift it. */
export async function lockBan(
  tx: Tx,
  tenant: TenantId,
  room: string | null,
  subject: Subject,
): Promise<Ban | undefined> {
  const { rows } = await tx.query<Ban>({
    name: 'lock-ban',
    text: `select ${BAN} from bans b
            where b.tenant_id = $1 and b.kind = $3 and b.value = $4
              and coalesce(b.room, '') = coalesce($2, '')
              and ${ACTIVE} for update of b`,
    values: [tenant, room, subject.kind, subject.value],
  });
  return rows[0];
}

export async function liftBan(tx: Tx, tenant: TenantId, id: string): Promise<void> {
  await tx.query({
    name: 'lift-ban',
    text: 'update bans set lifted_at = now() where tenant_id = $1 and id = $2',
    values: [tenant, id],
  });
}

/** How many bans are active, up to `most`. */
export async function countActiveBans(tx: Tx, tenant: TenantId, most: number): Promise<number> {
  return countUpTo(tx, 'count-active-bans', most, `select from bans b where b.tenant_id = $1 and ${ACTIVE}`, [
    tenant,
  ]);
}

/** How many address ranges are banned, in all rooms. */
export async function countAddressBans(db: Db, tenant: TenantId): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count-address-bans',
    text: `select count(*)::integer as count from bans b
            where b.tenant_id = $1 and b.kind = 'cidr' and ${ACTIVE}`,
    values: [tenant],
  });
  return rows[0]!.count;
}

export interface BanFilter {
  /** Only bans of rooms of this name; `undefined`: of the tenant and all its rooms. */
  readonly room: string | undefined;
  readonly subject: Subject | undefined;
  /** Id of the last ban of the previous page. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** Active bans, newest first. */
export async function findBans(db: Db, tenant: TenantId, filter: BanFilter): Promise<Ban[]> {
  const { room, subject, after, limit } = filter;
  const { name, where, values } = filtered('find-bans', [tenant, limit], {
    room: room && ['b.room = ?', room],
    subject: subject && ['b.kind = ? and b.value = ?', subject.kind, subject.value],
    after: after && [
      '(b.created_at, b.id) < (select created_at, id from bans where tenant_id = $1 and id = ?)',
      after,
    ],
  });
  const { rows } = await db.query<Ban>({
    name,
    text: `select ${BAN} from bans b
            where b.tenant_id = $1 and ${ACTIVE} ${where}
            order by b.created_at desc, b.id desc limit $2`,
    values,
  });
  return rows;
}

const HAS_ENDED = 'lifted_at is null and expires_at <= now()';

/** Mark some bans as lifted that have expired. Returns how many. Bans that stand keep none from it. */
export function liftEndedBans(db: Db, limit: number): Promise<number> {
  return changeInShares(db, {
    name: 'lift-ended-bans',
    text: (share) => `with expired as (
             select tenant_id, id from bans where ${HAS_ENDED} ${share.and('tenant_id', 2)}
              limit $1 for update skip locked
           )
           update bans set lifted_at = now()
            where (tenant_id, id) in (select * from expired) ${share.and('tenant_id', 2)}`,
    table: 'bans',
    where: HAS_ENDED,
    limit,
  });
}

const BANS_AT_ONCE = 1_000;

/** The columns that name people. */
type Named = Pick<Ban, 'subject' | 'reason' | 'actor'>;

/**
 * Rewrite who is named by the tenant's next bans after id `after`, those that have ended too. `rewrite` returns the same
 * object if it has nothing to change. A ban that gets another subject no longer covers anyone, and is lifted. Returns the
 * id of the last one; `undefined`: there are no more.
 */
export async function rewriteBans(
  tx: Tx,
  tenant: TenantId,
  after: string,
  rewrite: (ban: Named) => Named,
): Promise<string | undefined> {
  const { rows } = await tx.query<Named & { id: string }>({
    name: 'find-bans-to-rewrite',
    text: `select id, json_build_object('kind', kind, 'value', value) as subject, reason, actor
             from bans where tenant_id = $1 and id > $2 order by id limit ${BANS_AT_ONCE}`,
    values: [tenant, after],
  });
  const changed = rows.flatMap((row) => {
    const rewritten = rewrite(row);
    return rewritten === row ? [] : [{ ...rewritten, id: row.id }];
  });
  await tx.query({
    name: 'rewrite-bans',
    text: `update bans b set value = n.value, reason = n.reason, actor = n.actor,
                  lifted_at = case when b.value = n.value then b.lifted_at else coalesce(b.lifted_at, t.now) end
             from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as n (id, value, reason, actor),
                  (select now() as now) as t
            where b.tenant_id = $1 and b.id = n.id`,
    values: [
      tenant,
      changed.map(({ id }) => id),
      changed.map(({ subject }) => subject.value),
      changed.map(({ reason }) => reason),
      changed.map(({ actor }) => actor),
    ],
  });
  return rows.length === BANS_AT_ONCE ? rows.at(-1)!.id : undefined;
}
