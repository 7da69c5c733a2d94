/** Log in with a passkey, or log in again as the person of a session. */
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { BaseDeps } from '../../base/deps.ts';
import type { Membership } from '../members/member.ts';
import { findEntrance } from '../sessions/find-entrance.ts';
import type { LoginLimit } from '../sessions/login-limit.ts';
import { type Browser, enter } from '../sessions/open-session.ts';
import { makeEntrance } from '../sessions/request-login.ts';
import { hashSecret, provedAddressOf, type Session } from '../sessions/session.ts';
import { parseSigned, type SignedAnswer } from './answer.ts';
import { type Purpose, takeChallenge } from './challenges.sql.ts';
import type { RelyingParty } from './passkey.ts';
import { lockPasskey, notePasskeyUse, type SigningPasskey } from './passkeys.sql.ts';
import { type Refused, verifySigned } from './verify-answer.ts';

interface PasskeyLoginDeps extends BaseDeps {
  readonly loginLimit: LoginLimit;
}

/** `askAt`: the path of the page that asks for a yes first. */
export type PasskeyLogin = { readonly secret: string } | { readonly askAt: string };

/**
 * Log in with whichever passkey the person chose, for the page `next`.
 *
 * `undefined`: it was refused, and counted; the log says why. That no tenant of the address works is such a reason.
 */
export async function logInWithPasskey(
  deps: PasskeyLoginDeps,
  party: RelyingParty,
  { answer, next }: { readonly answer: string; readonly next: string },
  from: Browser,
): Promise<PasskeyLogin | undefined> {
  const purpose = { purpose: 'log_in' } as const;
  return open(deps, { party, answer, from, purpose }, async (tx, { email, id: passkeyId }) => {
    const person = { proof: 'passkey', email, passkeyId, tenant: undefined } as const;
    const { own, invitations } = await findEntrance(tx, person, next);
    if (invitations.length > 0) return { askAt: await makeEntrance(tx, person, next) };
    return own;
  });
}

/** As `logInWithPasskey`; the passkey must be one of the person of the session, who stays in the tenant. */
export async function confirmWithPasskey(
  deps: PasskeyLoginDeps,
  party: RelyingParty,
  answer: string,
  { session, address }: { readonly session: Session; readonly address: string },
): Promise<PasskeyLogin | undefined> {
  const { tenant, member, hash } = session;
  const from = { address, before: hash };
  const purpose = { purpose: 'confirm', session: hash } as const;
  return open(deps, { party, answer, from, purpose }, async (_tx, { email }) =>
    member && email === provedAddressOf(session) ? { tenant, member: member.id } : undefined,
  );
}

interface Attempt {
  readonly party: RelyingParty;
  readonly answer: string;
  readonly from: Browser;
  readonly purpose: Purpose;
}

type Place = Pick<Membership, 'tenant' | 'member'>;

async function open(
  deps: PasskeyLoginDeps,
  attempt: Attempt,
  placeOf: (tx: Tx, passkey: SigningPasskey) => Promise<Place | { readonly askAt: string } | undefined>,
): Promise<PasskeyLogin | undefined> {
  const answer = parseSigned(attempt.answer);
  // The challenge is used up whatever comes of it, so a refusal is no error.
  const opened = await inTransaction(deps.db, async (tx): Promise<PasskeyLogin | Refused> => {
    const passkey = await prove(tx, attempt, answer);
    if ('refused' in passkey) return passkey;
    const place = await placeOf(tx, passkey);
    if (!place) return { refused: 'no tenant of its person can be opened' };
    if ('askAt' in place) return place;
    const person = { proof: 'passkey', passkeyId: passkey.id } as const;
    return { secret: await enter(tx, person, place, attempt.from) };
  });
  if (!('refused' in opened)) return opened;
  deps.log.info({ reason: opened.refused }, 'a passkey was refused');
  await deps.loginLimit.countWrongPasskey(attempt.from.address);
  return undefined;
}

/** The passkey that signed. */
async function prove(
  tx: Tx,
  { party, purpose }: Attempt,
  answer: SignedAnswer | undefined,
): Promise<SigningPasskey | Refused> {
  if (!answer) return { refused: 'it cannot be read' };
  if (!(await takeChallenge(tx, hashSecret(answer.challenge), purpose)))
    return { refused: 'the challenge was not offered for this, or is over' };
  const passkey = await lockPasskey(tx, answer.credential);
  if (!passkey) return { refused: 'it is not known' };
  // Without a session, nothing but the passkey says who the person is.
  if (purpose.purpose === 'log_in' && !answer.handle) return { refused: 'it does not say whose it is' };
  const signed = await verifySigned(party, answer, passkey);
  if ('refused' in signed) return { refused: `${passkey.id}: ${signed.refused}` };
  // Many authenticators count nothing, and always say 0.
  const isCounted = signed.counter > 0 || passkey.counter > 0;
  if (isCounted && signed.counter <= passkey.counter)
    return { refused: `${passkey.id}: its counter went back, so there is a copy of it` };
  await notePasskeyUse(tx, passkey.id, signed);
  return passkey;
}
