/** What a browser is asked to sign, in the JSON form that its own methods parse. Nothing of it is secret. */
import { randomBytes } from 'node:crypto';
import type { BaseDeps } from '../../base/deps.ts';
import { Failure } from '../../base/failure.ts';
import type { LoginLimit } from '../logins/login-limit.ts';
import { newSecret, type Session } from '../sessions/session.ts';
import { insertChallenge, type Purpose } from './challenges.sql.ts';
import { CHALLENGE_MINUTES, PASSKEYS_MAX, type Passkey, type RelyingParty } from './passkey.ts';
import { findPasskeys, upsertHolder } from './passkeys.sql.ts';

/** By their numbers in COSE: EdDSA, ES256, RS256. The first one that an authenticator knows is taken. */
export const ALGORITHMS: readonly number[] = [-8, -7, -257];

const TIMEOUT_MS = CHALLENGE_MINUTES * 60_000;

/** Fails with `quota_exceeded`, and with `not_found` if the session has ended. */
export async function offerNewPasskey(
  { db }: Pick<BaseDeps, 'db'>,
  party: RelyingParty,
  { hash }: Pick<Session, 'hash'>,
  email: string,
): Promise<object> {
  const known = await findPasskeys(db, email);
  if (known.length >= PASSKEYS_MAX) throw tooMany();
  const handle = await upsertHolder(db, email, randomBytes(32));
  return {
    challenge: await newChallenge(db, { purpose: 'add', session: hash }),
    rp: { id: party.id, name: 'Boxoffice' },
    user: { id: handle.toString('base64url'), name: email, displayName: email },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials: known.map(renderCredential),
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    },
    attestation: 'none',
    timeout: TIMEOUT_MS,
  };
}

export function tooMany(): Failure {
  return new Failure('quota_exceeded', { message: `limit reached: at most ${PASSKEYS_MAX} passkeys` });
}

/** The browser knows which passkeys it has. Fails with `too_many_logins`. */
export async function offerLogin(
  { db, loginLimit }: { readonly loginLimit: LoginLimit } & Pick<BaseDeps, 'db'>,
  party: RelyingParty,
  address: string,
): Promise<object> {
  await loginLimit.countPasskeyRequest(address);
  return renderRequest(party, await newChallenge(db, { purpose: 'log_in' }), []);
}

/** To log in again as the person of the session. Fails with `not_found` if the session has ended. */
export async function offerConfirmation(
  { db }: Pick<BaseDeps, 'db'>,
  party: RelyingParty,
  { hash }: Pick<Session, 'hash'>,
  email: string,
): Promise<object> {
  const known = await findPasskeys(db, email);
  return renderRequest(party, await newChallenge(db, { purpose: 'confirm', session: hash }), known);
}

function renderRequest({ id }: RelyingParty, challenge: string, allowed: readonly Passkey[]): object {
  const allowCredentials = allowed.map(renderCredential);
  return { challenge, rpId: id, allowCredentials, userVerification: 'required', timeout: TIMEOUT_MS };
}

function renderCredential({ credential, transports }: Passkey): object {
  return { type: 'public-key', id: credential.toString('base64url'), transports };
}

async function newChallenge(db: BaseDeps['db'], purpose: Purpose): Promise<string> {
  const { plaintext, hash } = newSecret();
  if (!(await insertChallenge(db, hash, purpose))) throw new Failure('not_found');
  return plaintext;
}
