/** Log operators in, with a link of the command line, and all of them out. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Db, Pool, Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { shownNetworkOf } from '../../base/lib/address.ts';
import { deleteOperatorAttempts } from '../oidc/login-attempts.sql.ts';
import { type From, hashSecret, isSecret, newSecret } from '../sessions/session.ts';
import { type OperatorSession, operatorOf } from './operator-session.ts';
import {
  deleteAllOperatorSessions,
  deleteOperatorSession,
  findOperatorLink,
  findOperatorSession,
  insertOperatorLink,
  insertOperatorSession,
  takeOperatorLink,
} from './operator-sessions.sql.ts';

/** `operator` makes a link for itself. Returns the address of a page that logs in once, at the console on `opsUrl`. */
export async function makeOperatorLink(db: Pool, operator: Actor, opsUrl: string): Promise<string> {
  const { plaintext, hash } = newSecret();
  await inTransaction(db, async (tx) => {
    await insertOperatorLink(tx, hash, operator.id);
    const entry = { action: 'operator_link_made', subject: operator.id, before: null, after: null };
    await appendAudit(tx, null, operator, entry);
  });
  return `${opsUrl}/console/login/${plaintext}`;
}

/** Whose link it is, without using it up. */
export async function peekOperatorLink(db: Db, token: string): Promise<string | undefined> {
  return isSecret(token) ? findOperatorLink(db, hashSecret(token)) : undefined;
}

/** Log in with a link, which is used up. Returns the secret of the session; `undefined`: the link is wrong, used or too old. */
export async function openOperatorSession(db: Pool, token: string, from: From): Promise<string | undefined> {
  if (!isSecret(token)) return undefined;
  return inTransaction(db, async (tx) => {
    const operator = await takeOperatorLink(tx, hashSecret(token));
    if (operator === undefined) return undefined;
    return replaceOperatorSession(tx, { operator, proof: 'link' }, from);
  });
}

/** Each log-in has a new secret, and an entry in the audit trail. Returns the secret. */
export async function replaceOperatorSession(
  tx: Tx,
  { operator, proof }: { readonly operator: string; readonly proof: 'link' | 'oidc' },
  { address, device, before }: From,
): Promise<string> {
  if (before) await deleteOperatorSession(tx, before);
  const { plaintext, hash } = newSecret();
  await insertOperatorSession(tx, hash, { operator, device, network: shownNetworkOf(address) });
  const after = { proof, ...(device !== undefined && { device }) };
  const entry = { action: 'operator_logged_in', subject: operator, before: null, after };
  await appendAudit(tx, null, { ...operatorOf({ operator }), address }, entry);
  return plaintext;
}

/** The session behind a secret. Nothing is cached, so a session that ended is refused at once. */
export async function authenticateOperator(db: Db, secret: string): Promise<OperatorSession | undefined> {
  return findOperatorSession(db, hashSecret(secret));
}

/** Log every operator out, and make every link and every log-in under way useless. Returns how many sessions ended. */
export async function endOperatorSessions(db: Pool, operator: Actor): Promise<number> {
  return inTransaction(db, async (tx) => {
    const ended = await deleteAllOperatorSessions(tx);
    await deleteOperatorAttempts(tx);
    if (ended.sessions + ended.links > 0) {
      const entry = { action: 'operator_sessions_ended', subject: null, before: ended, after: null };
      await appendAudit(tx, null, operator, entry);
    }
    return ended.sessions;
  });
}
