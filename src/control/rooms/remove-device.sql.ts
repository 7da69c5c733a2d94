/** SQL that takes devices from users who are present, and leaves them their other devices. */
import { isDistributed } from '../../base/db/distribution.ts';
import { filtered } from '../../base/db/filtered.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { noteLapse } from './lapses.sql.ts';
import type { Participant } from './participant.ts';
import { ROOM_OF_PARTICIPANT, reviveParticipant, WHOLE_PARTICIPANT } from './participants.sql.ts';

/** Which devices: one by its thumbprint, or those with tokens of API keys or device credentials. */
export type WhichDevices = { readonly thumbprint: string } | { readonly keys: readonly string[] };

/**
 * Returns the users who have a valid token on another device, by name. The others have none any more, and are
 * still to be expelled. The room must be locked.
 */
export async function removeDevices(
  tx: Tx,
  tenant: TenantId,
  roomUid: string,
  which: WhichDevices,
  usernames: readonly string[],
): Promise<Participant[]> {
  // Renewals lock only the participant. Each later statement sees those that committed before this lock.
  await tx.query({
    name: 'lock-users-of-device',
    text: `select from participants where tenant_id = $1 and room_uid = $2 and username = any($3)
            order by username for no key update`,
    values: [tenant, roomUid, usernames],
  });
  const { name, where, values } = filtered('delete-admissions-of', [tenant, roomUid, usernames], {
    device: 'thumbprint' in which && ['device = ?', which.thumbprint],
    keys: 'keys' in which && ['key_id = any(?)', which.keys],
  });
  await tx.query({
    name,
    text: `delete from admissions where tenant_id = $1 and room_uid = $2 and username = any($3) ${where}`,
    values,
  });
  const { rows } = await tx.query<Participant>({
    name: 'shorten-presence',
    text: `with p as (
             update participants p set expires_at = d.until
               from unnest($3::text[]) u (username)
              cross join lateral (select max(a.expires_at) filter (where a.expires_at > now()) as until
                                    from admissions a
                                   where a.tenant_id = $1 and a.room_uid = $2 and a.username = u.username) d
              where p.tenant_id = $1 and p.room_uid = $2 and p.username = u.username
                and p.left_at is null and d.until is not null
             returning p.*
           )
           select ${WHOLE_PARTICIPANT} from p ${ROOM_OF_PARTICIPANT}
            order by p.username`,
    values: [tenant, roomUid, usernames],
  });
  if (isDistributed()) await noteLapses(tx, tenant, roomUid, rows);
  return rows.map(reviveParticipant);
}

/** Forget the devices of a user whose token has expired. Returns how many are left. */
export async function removeExpiredDevices(
  db: Db,
  tenant: TenantId,
  roomUid: string,
  username: string,
): Promise<number> {
  const values = [tenant, roomUid, username];
  await db.query({
    name: 'delete-expired-admissions-of',
    text: `delete from admissions where tenant_id = $1 and room_uid = $2 and username = $3 and expires_at <= now()`,
    values,
  });
  const { rows } = await db.query<{ count: number }>({
    name: 'count-admissions-of',
    text: `select count(*)::integer as count from admissions where tenant_id = $1 and room_uid = $2 and username = $3`,
    values,
  });
  return rows[0]!.count;
}

/** The presence of these users, who have no valid token any more, ends now. `markExpired()` makes them leave. */
export async function endPresence(
  tx: Tx,
  tenant: TenantId,
  roomUid: string,
  usernames: readonly string[],
): Promise<void> {
  const { rows } = await tx.query<Pick<Participant, 'expiresAt'>>({
    name: 'end-presence',
    text: `update participants p set expires_at = t.now from (select now() as now) as t
            where p.tenant_id = $1 and p.room_uid = $2 and p.username = any($3) and p.left_at is null
              and p.expires_at > t.now
           returning p.expires_at as "expiresAt"`,
    values: [tenant, roomUid, usernames],
  });
  if (isDistributed()) await noteLapses(tx, tenant, roomUid, rows);
}

/** What a trigger does where tables are not distributed. */
async function noteLapses(
  tx: Tx,
  tenant: TenantId,
  roomUid: string,
  rows: readonly Pick<Participant, 'expiresAt'>[],
): Promise<void> {
  const next = Math.min(...rows.map(({ expiresAt }) => expiresAt.getTime()));
  if (rows.length > 0) await noteLapse(tx, tenant, roomUid, new Date(next).toISOString());
}
