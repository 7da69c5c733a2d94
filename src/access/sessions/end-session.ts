/** Log out, and end sessions elsewhere. A session that ended is refused by every process from then on. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { actorOf, isSessionId, provedAddressOf, type Session } from './session.ts';
import { deleteSession, deleteSessions, type EndedSession, type SessionsOf } from './sessions.sql.ts';

interface EndDeps {
  readonly db: Pool;
}

/** Log out. */
export async function endSession({ db }: EndDeps, session: Session, address: string): Promise<void> {
  await inTransaction(db, async (tx) => {
    if (!(await deleteSession(tx, session.hash))) return;
    const { id: subject, proof } = session;
    const entry = { action: 'logged_out', subject, before: { proof }, after: null };
    await appendAudit(tx, session.tenant, actorOf(session, address), entry);
  });
}

/** Those of the same person: of the address in all of its tenants, if it was proved. */
export function ownSessionsOf(session: Session): SessionsOf {
  const email = provedAddressOf(session);
  const { tenant, member, keyId, operator } = session;
  return email === undefined ? { tenant, member: member?.id, keyId, operator } : { email };
}

/** End another session of the person: the one with the id, or all. Returns how many ended. */
export async function endOwnSessions(
  { db }: EndDeps,
  session: Session,
  { id, address }: { readonly id?: string | undefined; readonly address: string },
): Promise<number> {
  const actorIn = ({ tenant, member }: EndedSession): Actor =>
    tenant === session.tenant || member === null
      ? actorOf(session, address)
      : { kind: 'member', id: member, address };
  return end(db, ownSessionsOf(session), { id, except: session.id }, actorIn);
}

/** End sessions of members, keys and operators at a tenant: the one with the id, or all. Returns how many ended. */
export async function endSessionsOfTenant(
  { db }: EndDeps,
  of: Extract<SessionsOf, { tenant: unknown }>,
  { id, except, actor }: { readonly id?: string; readonly except?: string; readonly actor: Actor },
): Promise<number> {
  return end(db, of, { id, except }, () => actor);
}

/** Several of one tenant are one entry. */
async function end(
  db: Pool,
  of: SessionsOf,
  which: { readonly id?: string | undefined; readonly except?: string | undefined },
  actorIn: (ended: EndedSession) => Actor,
): Promise<number> {
  if (which.id !== undefined && !isSessionId(which.id)) return 0;
  return inTransaction(db, async (tx) => {
    const ended = await deleteSessions(tx, of, which);
    for (const [tenant, [first, ...more]] of Map.groupBy(ended, (each) => each.tenant)) {
      const { id, proof, member } = first!;
      const before =
        more.length > 0 ? { sessions: more.length + 1 } : { proof, ...(member !== null && { member }) };
      const subject = more.length > 0 ? null : id;
      const entry = { action: 'session_ended', subject, before, after: null };
      await appendAudit(tx, tenant, actorIn(first!), entry);
    }
    return ended.length;
  });
}
