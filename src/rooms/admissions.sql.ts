/** SQL of `admissions`: who was let into a room, and until when. Time is the database's. */
import type { Db } from '../db/pool.ts';
import type { TenantId } from '../tenants/tenant.ts';

export interface NewAdmission {
  readonly tenant: TenantId;
  readonly roomUid: string;
  readonly username: string;
  /** Thumbprint of the device's key. */
  readonly device: string;
  readonly skeleton: string;
  /** The API key or device credential that asked for it. */
  readonly keyId: string;
  readonly lifetimeSeconds: number;
}

export interface Admission {
  /** Seconds since 1970. */
  readonly issuedAt: number;
  /** The signing key that is active at this very moment. */
  readonly kid: string | null;
}

/** Admit a user on a device, or renew that. */
export async function upsertAdmission(db: Db, admission: NewAdmission): Promise<Admission> {
  const { rows } = await db.query<Admission>({
    name: 'upsert-admission',
    text: `insert into admissions as a (tenant_id, room_uid, username, device, skeleton, key_id, expires_at)
           values ($1, $2, $3, $4, $5, $6, date_trunc('second', now()) + make_interval(secs => $7))
           on conflict (tenant_id, room_uid, username, device) do update
             set skeleton = excluded.skeleton, key_id = excluded.key_id, admitted_at = excluded.admitted_at,
                 expires_at = greatest(a.expires_at, excluded.expires_at)
           returning extract(epoch from date_trunc('second', now()))::double precision as "issuedAt",
                     (select kid from signing_keys where state = 'active') as kid`,
    values: [
      admission.tenant,
      admission.roomUid,
      admission.username,
      admission.device,
      admission.skeleton,
      admission.keyId,
      admission.lifetimeSeconds,
    ],
  });
  return rows[0]!;
}

/** Whether somebody of another name, which looks like this one, is in the room. */
export async function hasLookalike(
  db: Db,
  { tenant, roomUid, username, skeleton }: NewAdmission,
): Promise<boolean> {
  const { rows } = await db.query(
    `select 1 from admissions
      where tenant_id = $1 and room_uid = $2 and skeleton = $3 and username <> $4 and expires_at > now() limit 1`,
    [tenant, roomUid, skeleton, username],
  );
  return rows.length > 0;
}

/** Forget some of those whose tokens expired long ago. Returns how many there were. */
export async function deleteExpiredAdmissions(
  db: Db,
  options: { keepHours: number; limit: number },
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from admissions where (tenant_id, room_uid, username, device) in (
       select tenant_id, room_uid, username, device from admissions
        where expires_at < now() - make_interval(hours => $1) limit $2 for update skip locked)`,
    [options.keepHours, options.limit],
  );
  return rowCount ?? 0;
}
