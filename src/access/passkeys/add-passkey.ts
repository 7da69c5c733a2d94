/** Add a passkey that an authenticator has just made for a person. */
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { BaseDeps } from '../../base/deps.ts';
import type { LoginLimit } from '../logins/login-limit.ts';
import { actorOf, hashSecret, type Session } from '../sessions/session.ts';
import { parseNewPasskey } from './answer.ts';
import { takeChallenge } from './challenges.sql.ts';
import { tooMany } from './offer-challenge.ts';
import { PASSKEYS_MAX, type RelyingParty } from './passkey.ts';
import { findPasskeys, insertPasskey, lockHolder } from './passkeys.sql.ts';
import { verifyNewPasskey } from './verify-answer.ts';

interface AddDeps extends BaseDeps {
  readonly loginLimit: LoginLimit;
}

export interface AddedPasskey {
  /** The address that the person has proved. */
  readonly email: string;
  readonly name: string;
  /** What the browser answered. */
  readonly answer: string;
}

/**
 * Add it to the address of the session. `false`: it was refused, and counted; the log says why.
 *
 * Fails with `quota_exceeded`.
 */
export async function addPasskey(
  deps: AddDeps,
  party: RelyingParty,
  session: Session,
  { email, name, answer: text }: AddedPasskey,
  address: string,
): Promise<boolean> {
  const answer = parseNewPasskey(text);
  const refused = await inTransaction(deps.db, async (tx) => {
    if (!answer) return 'it cannot be read';
    const isOffered = await takeChallenge(tx, hashSecret(answer.challenge), {
      purpose: 'add',
      session: session.hash,
    });
    if (!isOffered) return 'the challenge is not one of the session, or is over';
    const made = await verifyNewPasskey(party, answer);
    if ('refused' in made) return made.refused;
    if (!(await lockHolder(tx, email))) return 'the address is no member any more';
    if ((await findPasskeys(tx, email)).length >= PASSKEYS_MAX) throw tooMany();
    const id = await insertPasskey(tx, email, { ...made, name });
    if (id === undefined) return 'it is known';
    await appendAudit(tx, session.tenant, actorOf(session, address), {
      action: 'passkey_added',
      subject: id,
      before: null,
      after: { name },
    });
    return undefined;
  });
  if (refused === undefined) return true;
  deps.log.info({ reason: refused }, 'a new passkey was refused');
  await deps.loginLimit.countWrongPasskey(address);
  return false;
}
