/** Log in with a passkey, or log in again as the person of a session. */
import type { Db, Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { BaseDeps } from '../../base/deps.ts';
import { type Entrance, findEntrance, nextPageOf } from '../logins/find-entrance.ts';
import type { LoginLimit } from '../logins/login-limit.ts';
import { noteFailedLogin } from '../logins/note-failed-login.ts';
import { enter, type OpenedSession } from '../logins/open-session.ts';
import { makeEntrance } from '../logins/request-login.ts';
import { type From, hashSecret, provedAddressOf, type Session } from '../sessions/session.ts';
import { parseSigned, type SignedAnswer } from './answer.ts';
import { type Purpose, takeChallenge } from './challenges.sql.ts';
import type { RelyingParty } from './passkey.ts';
import { lockPasskey, notePasskeyUse, type SigningPasskey } from './passkeys.sql.ts';
import { type Refused, verifySigned } from './verify-answer.ts';

interface PasskeyLoginDeps extends BaseDeps {
  readonly loginLimit: LoginLimit;
}

/** `askAt`: the path of the page that asks for a yes first. */
export type PasskeyLogin = OpenedSession | { readonly askAt: string };

/**
 * Log in with whichever passkey the person chose, for the page `next`.
 *
 * `undefined`: it was refused, and counted; the log says why. That the address has no tenant is such a reason.
 */
export async function logInWithPasskey(
  deps: PasskeyLoginDeps,
  party: RelyingParty,
  { answer, next }: { readonly answer: string; readonly next: string },
  from: From,
): Promise<PasskeyLogin | undefined> {
  const attempt = { party, answer, from, purpose: { purpose: 'log_in' } } as const;
  return open(deps, attempt, (db, email) => findEntrance(db, { email, tenant: undefined }, next), next);
}

/** As `logInWithPasskey`; the passkey must be one of the person of the session, who stays in the tenant. */
export async function confirmWithPasskey(
  deps: PasskeyLoginDeps,
  party: RelyingParty,
  { answer, next }: { readonly answer: string; readonly next: string },
  { session, ...from }: Omit<From, 'before'> & { readonly session: Session },
): Promise<PasskeyLogin | undefined> {
  const { tenant, member, hash } = session;
  const attempt = {
    party,
    answer,
    from: { ...from, before: hash },
    purpose: { purpose: 'confirm', session: hash },
  } as const;
  const place = async (_db: Db, email: string): Promise<Place> => ({
    own: member && email === provedAddressOf(session) ? { tenant, member: member.id } : undefined,
    invitations: [],
  });
  return open(deps, attempt, place, next);
}

interface Attempt {
  readonly party: RelyingParty;
  readonly answer: string;
  readonly from: From;
  readonly purpose: Purpose;
}

/** Where the log-in leads. Invitations are answered first. */
interface Place extends Pick<Entrance, 'passedOver' | 'invitations'> {
  readonly own: Pick<NonNullable<Entrance['own']>, 'tenant' | 'member'> | undefined;
}

async function open(
  deps: PasskeyLoginDeps,
  attempt: Attempt,
  placeOf: (db: Db, email: string) => Promise<Place>,
  next: string,
): Promise<PasskeyLogin | undefined> {
  const answer = parseSigned(attempt.answer);
  // The challenge is used up whatever comes of it, so a refusal is no error.
  const opened = await inTransaction(deps.db, async (tx): Promise<PasskeyLogin | RefusedOf> => {
    const passkey = await prove(tx, attempt, answer);
    if ('refused' in passkey) return passkey;
    const { id: passkeyId, email } = passkey;
    const place = await placeOf(tx, email);
    const { own, invitations } = place;
    const person = { proof: 'passkey', email, passkeyId, tenant: undefined } as const;
    if (invitations.length > 0) return { askAt: await makeEntrance(tx, person, next) };
    if (!own) return { refused: 'no tenant of its person can be opened' };
    return { secret: await enter(tx, person, own, attempt.from), next: nextPageOf(place, next) };
  });
  if (!('refused' in opened)) return opened;
  deps.log.info({ reason: opened.refused }, 'a passkey was refused');
  const { address } = attempt.from;
  await deps.loginLimit.countWrongPasskey(address);
  const own = opened.email === undefined ? undefined : (await placeOf(deps.db, opened.email)).own;
  if (own) {
    const { tenant, member: subject } = own;
    await noteFailedLogin(deps, { tenant, subject, proof: 'passkey' }, address);
  }
  return undefined;
}

/** `email`: of the passkey, if it is known. */
interface RefusedOf extends Refused {
  readonly email?: string;
}

/** The passkey that signed. */
async function prove(
  tx: Tx,
  { party, purpose }: Attempt,
  answer: SignedAnswer | undefined,
): Promise<SigningPasskey | RefusedOf> {
  if (!answer) return { refused: 'it cannot be read' };
  if (!(await takeChallenge(tx, hashSecret(answer.challenge), purpose)))
    return { refused: 'the challenge was not offered for this, or is over' };
  const passkey = await lockPasskey(tx, answer.credential);
  if (!passkey) return { refused: 'it is not known' };
  // Without a session, nothing but the passkey says who the person is.
  if (purpose.purpose === 'log_in' && !answer.handle) return { refused: 'it does not say whose it is' };
  const signed = await verifySigned(party, answer, passkey);
  const { email } = passkey;
  if ('refused' in signed) return { refused: `${passkey.id}: ${signed.refused}`, email };
  // Many authenticators count nothing, and always say 0.
  const isCounted = signed.counter > 0 || passkey.counter > 0;
  if (isCounted && signed.counter <= passkey.counter)
    return { refused: `${passkey.id}: its counter went back, so there is a copy of it`, email };
  await notePasskeyUse(tx, passkey.id, signed);
  return passkey;
}
