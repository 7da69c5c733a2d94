/** Remove a passkey of a person. */
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { BaseDeps } from '../../base/deps.ts';
import { notFound } from '../../base/failure.ts';
import { actorOf, type Session } from '../sessions/session.ts';
import { deletePasskey } from './passkeys.sql.ts';

/** Ends the sessions that it opened at once. Fails with `not_found` for another person's passkey. */
export async function removePasskey(
  { db }: Pick<BaseDeps, 'db'>,
  session: Session,
  { email, id }: { readonly email: string; readonly id: string },
  address: string,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const name = await deletePasskey(tx, email, id);
    if (name === undefined) throw notFound('passkey');
    await appendAudit(tx, session.tenant, actorOf(session, address), {
      action: 'passkey_removed',
      subject: id,
      before: { name },
      after: null,
    });
  });
}
