/** An operator logs out, and ends own sessions elsewhere. */
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { isOperatorSessionId, type OperatorSession, operatorOf } from './operator-session.ts';
import {
  deleteOperatorSession,
  deleteOperatorSessions,
  findOperatorSessions,
  type ListedOperatorSession,
} from './operator-sessions.sql.ts';

interface EndDeps {
  readonly db: Pool;
}

/** Log out. */
export async function endOperatorSession(
  { db }: EndDeps,
  session: OperatorSession,
  address: string,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    if (!(await deleteOperatorSession(tx, session.hash))) return;
    const entry = { action: 'operator_logged_out', subject: session.operator, before: null, after: null };
    await appendAudit(tx, null, { ...operatorOf(session), address }, entry);
  });
}

/** Those that work, the last used first. */
export async function listOwnOperatorSessions(
  { db }: EndDeps,
  { operator }: OperatorSession,
): Promise<ListedOperatorSession[]> {
  return findOperatorSessions(db, operator);
}

/** End another session of the operator: the one with the id, or all. */
export async function endOwnOperatorSessions(
  { db }: EndDeps,
  session: OperatorSession,
  id?: string,
): Promise<void> {
  if (id !== undefined && !isOperatorSessionId(id)) return;
  await inTransaction(db, async (tx) => {
    const sessions = await deleteOperatorSessions(tx, session, id);
    if (sessions === 0) return;
    const entry = {
      action: 'operator_sessions_ended',
      subject: session.operator,
      before: { sessions },
      after: null,
    };
    await appendAudit(tx, null, operatorOf(session), entry);
  });
}
