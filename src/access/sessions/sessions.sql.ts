/** SQL of `console_sessions`. */
import { isDistributed } from '../../base/db/distribution.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import type { LimitOverrides } from '../../base/tenants/limits.ts';
import type { TenantId, TenantStatus } from '../../base/tenants/tenant.ts';
import { CEILING_COLUMNS } from '../keys/keys.sql.ts';
import { IS_WORKING } from '../keys/working-key.sql.ts';
import type { SessionRole } from '../members/member.ts';
import type { KeyCeiling } from '../rights/key-ceiling.ts';
import { deleteOver } from './delete-over.sql.ts';
import { FRESH_MINUTES, type Proof, SESSION_DAYS, SESSION_IDLE_HOURS, type Session } from './session.ts';

export interface NewSession {
  readonly hash: Buffer;
  readonly tenant: TenantId;
  readonly proof: Proof;
  readonly member?: string | undefined;
  readonly keyId?: string | undefined;
  readonly operator?: string | undefined;
  readonly passkeyId?: string | undefined;
  /** When the person logged in, if not now. */
  readonly createdAt?: Date;
}

export async function insertSession(db: Db, session: NewSession): Promise<void> {
  await db.query({
    name: 'insert-session',
    text: `insert into console_sessions (hash, tenant_id, proof, member_id, key_id, operator, passkey_id, created_at)
           values ($1, $2, $3, $4, $5, $6, $7, coalesce($8, now()))`,
    values: [
      session.hash,
      session.tenant,
      session.proof,
      session.member ?? null,
      session.keyId ?? null,
      session.operator ?? null,
      session.passkeyId ?? null,
      session.createdAt ?? null,
    ],
  });
}

/** Tenants in other states have no console. A session from before such a state has ended for good. */
const OPEN = "('pending', 'active')";

const IS_ALIVE = `s.seen_at > now() - interval '${SESSION_IDLE_HOURS} hours'
  and s.created_at > now() - interval '${SESSION_DAYS} days'
  and t.status in ${OPEN}
  and not exists (select from tenant_status_changes c
                   where c.tenant_id = s.tenant_id and c.at > s.created_at and c.new_status not in ${OPEN})
  and (s.key_id is null or exists (select from api_keys where id = s.key_id and ${IS_WORKING}))`;

interface SessionRow extends KeyCeiling {
  readonly tenant: TenantId;
  readonly tenantName: string;
  readonly status: TenantStatus;
  readonly limits: LimitOverrides | null;
  readonly proof: Proof;
  readonly member: string | null;
  readonly email: string | null;
  readonly sessionRole: SessionRole;
  readonly keyId: string | null;
  readonly operator: string | null;
  readonly passkeyId: string | null;
  readonly isTrusted: boolean;
  readonly mustReview: boolean;
  readonly createdAt: Date;
  readonly isFresh: boolean;
  /** Whether its use was last noted more than a minute ago. */
  readonly isToNote: boolean;
}

const ROLE = `case when s.key_id is not null then 'key' else coalesce(m.role, 'owner') end`;

const FOUND = `
  select s.tenant_id as tenant, t.name as "tenantName", t.status, t.limits, s.proof, m.id as member, m.email,
         ${ROLE} as "sessionRole", ${CEILING_COLUMNS},
         s.key_id as "keyId", s.operator, s.passkey_id as "passkeyId", s.seen_at < now() - interval '1 minute' as "isToNote",
         coalesce(k.trusted, s.proof <> 'signup') as "isTrusted", coalesce(m.must_review, false) as "mustReview",
         s.created_at as "createdAt", s.created_at > now() - interval '${FRESH_MINUTES} minutes' as "isFresh"
    from console_sessions s join tenants t on t.id = s.tenant_id
         left join members m on m.tenant_id = s.tenant_id and m.id = s.member_id
         left join api_keys k on k.tenant_id = s.tenant_id and k.id = s.key_id
   where s.hash = $1 and ${IS_ALIVE}`;

const FOUND_AND_NOTED = `with found as (${FOUND}), noted as (
    update console_sessions s set seen_at = now() from found where s.hash = $1 and found."isToNote")
  select * from found`;

/** The session that works, and note that it was used. A minute may pass between two notes. */
export async function findSession(db: Db, hash: Buffer): Promise<Session | undefined> {
  const { rows } = await db.query<SessionRow>({
    name: 'find-session',
    text: isDistributed() ? FOUND : FOUND_AND_NOTED,
    values: [hash],
  });
  const [row] = rows;
  if (!row) return undefined;
  if (isDistributed() && row.isToNote) await noteUse(db, hash);
  const {
    tenant,
    tenantName,
    status,
    limits,
    proof,
    member,
    email,
    sessionRole,
    keyId,
    operator,
    passkeyId,
    isTrusted,
    mustReview,
    createdAt,
    isFresh,
    isToNote: _isToNote,
    ...ceiling
  } = row;
  return {
    hash,
    tenant,
    tenantName,
    tenantStatus: status,
    tenantLimits: limits,
    proof,
    member: member === null ? undefined : { id: member, email: email! },
    keyId: keyId ?? undefined,
    ceiling: keyId === null ? undefined : ceiling,
    operator: operator ?? undefined,
    passkeyId: passkeyId ?? undefined,
    role: sessionRole,
    isTrusted,
    mustReview,
    createdAt,
    isFresh,
  };
}

/** Where tables are distributed: a statement that reads tenants changes no session. */
async function noteUse(db: Db, hash: Buffer): Promise<void> {
  await db.query({
    name: 'note-use-of-session',
    text: 'update console_sessions set seen_at = now() where hash = $1',
    values: [hash],
  });
}

/**
 * The role of a session that works. Nothing is noted, so a page that stays open does not keep its session from ending
 * without use.
 */
export async function findRoleOfSession(db: Db, hash: Buffer): Promise<SessionRole | undefined> {
  const { rows } = await db.query<{ role: SessionRole }>({
    name: 'find-role-of-session',
    text: `select ${ROLE} as role from console_sessions s join tenants t on t.id = s.tenant_id
                  left join members m on m.tenant_id = s.tenant_id and m.id = s.member_id
            where s.hash = $1 and ${IS_ALIVE}`,
    values: [hash],
  });
  return rows[0]?.role;
}

export async function deleteSession(db: Db, hash: Buffer): Promise<void> {
  await db.query({
    name: 'delete-session',
    text: 'delete from console_sessions where hash = $1',
    values: [hash],
  });
}

/** End the sessions of a member that were opened without a proof of the address. */
export async function deleteUnprovedSessions(tx: Tx, tenant: TenantId, member: string): Promise<void> {
  await tx.query({
    name: 'delete-unproved-sessions',
    text: `delete from console_sessions where tenant_id = $1 and member_id = $2 and proof = 'signup'`,
    values: [tenant, member],
  });
}

/** Delete some sessions that are over. Returns how many. */
export async function deleteOldSessions(db: Db, limit: number): Promise<number> {
  return deleteOver(db, 'console_sessions', `created_at <= now() - interval '${SESSION_DAYS} days'`, limit);
}
