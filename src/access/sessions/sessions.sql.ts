/** SQL of `console_sessions`. */
import { type Condition, filtered } from '../../base/db/filtered.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import { newId } from '../../base/lib/ids.ts';
import type { LimitOverrides } from '../../base/tenants/limits.ts';
import type { TenantId, TenantStatus } from '../../base/tenants/tenant.ts';
import type { SessionRole } from '../rights/abilities.ts';
import { CEILING_COLUMNS } from '../rights/key-ceiling.sql.ts';
import type { KeyCeiling } from '../rights/key-ceiling.ts';
import { IS_WORKING } from '../rights/working-key.sql.ts';
import { deleteOver } from './delete-over.sql.ts';
import { FRESH_MINUTES } from './fresh-login.ts';
import { type ListedSession, type Proof, SESSION_DAYS, SESSION_IDLE_HOURS, type Session } from './session.ts';

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
  readonly device?: string | undefined;
  readonly network?: string | undefined;
}

/** Returns the id. */
export async function insertSession(db: Db, session: NewSession): Promise<string> {
  const id = newId('cs');
  await db.query({
    name: 'insert-session',
    text: `insert into console_sessions (id, hash, tenant_id, proof, member_id, key_id, operator, passkey_id, created_at,
                                         device, network)
           values ($1, $2, $3, $4, $5, $6, $7, $8, coalesce($9, now()), $10, $11)`,
    values: [
      id,
      session.hash,
      session.tenant,
      session.proof,
      session.member ?? null,
      session.keyId ?? null,
      session.operator ?? null,
      session.passkeyId ?? null,
      session.createdAt ?? null,
      session.device ?? null,
      session.network ?? null,
    ],
  });
  return id;
}

/** Tenants in other states have no console. A session from before such a state has ended for good. */
const OPEN = "('pending', 'active')";

const IS_RECENT = `s.seen_at > now() - interval '${SESSION_IDLE_HOURS} hours'
  and s.created_at > now() - interval '${SESSION_DAYS} days'
  and (s.key_id is null or exists (select from api_keys where id = s.key_id and ${IS_WORKING}))`;

const IS_ALIVE = `${IS_RECENT}
  and t.status in ${OPEN}
  and not exists (select from tenant_status_changes c
                   where c.tenant_id = s.tenant_id and c.at > s.created_at and c.new_status not in ${OPEN})`;

/** It would work if its tenant was open. */
const IS_CLOSED = `${IS_RECENT} and t.status in ('suspended', 'archived')`;

interface SessionRow extends KeyCeiling {
  readonly id: string;
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

const SELECTED = `
  select s.id, s.tenant_id as tenant, t.name as "tenantName", t.status, t.limits, s.proof, m.id as member, m.email,
         ${ROLE} as "sessionRole", ${CEILING_COLUMNS},
         s.key_id as "keyId", s.operator, s.passkey_id as "passkeyId", s.seen_at < now() - interval '1 minute' as "isToNote",
         coalesce(k.trusted, s.proof <> 'signup') as "isTrusted", coalesce(m.must_review, false) as "mustReview",
         s.created_at as "createdAt", s.created_at > now() - interval '${FRESH_MINUTES} minutes' as "isFresh"
    from console_sessions s join tenants t on t.id = s.tenant_id
         left join members m on m.tenant_id = s.tenant_id and m.id = s.member_id
         left join api_keys k on k.tenant_id = s.tenant_id and k.id = s.key_id
   where s.hash = $1`;

/** The session that works. If this is a use of it, that is noted; a minute may pass between two notes. */
export async function findSession(db: Db, hash: Buffer, isUse: boolean): Promise<Session | undefined> {
  const { rows } = await db.query<SessionRow>({
    name: 'find-session',
    text: `${SELECTED} and ${IS_ALIVE}`,
    values: [hash],
  });
  const [row] = rows;
  if (!row) return undefined;
  if (isUse && row.isToNote) await noteUse(db, hash);
  return sessionOf(hash, row);
}

/** The session that would work if its tenant was not suspended or archived. Its use is not noted. */
export async function findClosedSession(db: Db, hash: Buffer): Promise<Session | undefined> {
  const { rows } = await db.query<SessionRow>({
    name: 'find-closed-session',
    text: `${SELECTED} and ${IS_CLOSED}`,
    values: [hash],
  });
  return rows[0] && sessionOf(hash, rows[0]);
}

function sessionOf(hash: Buffer, row: SessionRow): Session {
  const {
    id,
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
    id,
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

/** Returns whether there was one. */
export async function deleteSession(db: Db, hash: Buffer): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'delete-session',
    text: 'delete from console_sessions where hash = $1',
    values: [hash],
  });
  return rowCount === 1;
}

/** Whose sessions. Those of an address may be of several tenants; a signup does not prove that they are of its person. */
export type SessionsOf =
  | { readonly email: string }
  | {
      readonly tenant: TenantId;
      readonly member?: string | undefined;
      readonly keyId?: string | undefined;
      readonly operator?: string | undefined;
    };

function conditionsOf(of: SessionsOf): Readonly<Record<string, Condition>> {
  if ('email' in of) return { email: [`m.email = ? and s.proof <> 'signup'`, of.email] };
  return {
    tenant: ['s.tenant_id = ?', of.tenant],
    member: of.member !== undefined && ['s.member_id = ?', of.member],
    key: of.keyId !== undefined && ['s.key_id = ?', of.keyId],
    operator: of.operator !== undefined && ['s.operator = ?', of.operator],
  };
}

/** Those that work, the last used first. At most `limit`. */
export async function findSessions(db: Db, of: SessionsOf, limit: number): Promise<ListedSession[]> {
  const { name, where, values } = filtered('find-sessions', [limit], conditionsOf(of));
  const { rows } = await db.query<ListedSession>({
    name,
    text: `select s.id, t.name as "tenantName", s.proof, m.email, s.key_id as "keyId", s.operator, s.device, s.network,
                  s.created_at as "createdAt", s.seen_at as "seenAt"
             from console_sessions s join tenants t on t.id = s.tenant_id
                  left join members m on m.tenant_id = s.tenant_id and m.id = s.member_id
            where ${IS_ALIVE} ${where} order by s.seen_at desc, s.id limit $1`,
    values,
  });
  return rows;
}

export interface EndedSession {
  readonly id: string;
  readonly tenant: TenantId;
  readonly member: string | null;
  readonly proof: Proof;
}

/** Delete one of the sessions, or all but `except`. */
export async function deleteSessions(
  tx: Tx,
  of: SessionsOf,
  { id, except }: { readonly id?: string | undefined; readonly except?: string | undefined },
): Promise<EndedSession[]> {
  const { name, where, values } = filtered('delete-sessions', [], {
    ...conditionsOf(of),
    id: id !== undefined && ['s.id = ?', id],
    except: except !== undefined && ['s.id <> ?', except],
  });
  const { rows } = await tx.query<EndedSession>({
    name,
    text: `delete from console_sessions where id in (
             select s.id from console_sessions s
                    left join members m on m.tenant_id = s.tenant_id and m.id = s.member_id
              where true ${where})
           returning id, tenant_id as tenant, member_id as member, proof`,
    values,
  });
  return rows;
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
