/**
 * Sessions of the console: their secrets and their life.
 *
 * The secret is 256 random bits, and only its SHA-256 is stored, as with API keys.
 */
import { hash, randomBytes } from 'node:crypto';
import type { Actor } from '../../base/audit/actor.ts';
import { isId } from '../../base/lib/ids.ts';
import type { LimitedCaller } from '../../base/tenants/limited-caller.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { SessionRole } from '../rights/abilities.ts';
import type { KeyCeiling } from '../rights/key-ceiling.ts';

/** A session that is not used ends after this. */
export const SESSION_IDLE_HOURS = 12;
/** Any session ends after this. */
export const SESSION_DAYS = 7;

/** By what a log-in was proved. `oidc`: by the issuer that the deployment trusts. */
export type Proof = 'signup' | PersonProof | 'key' | 'operator';

/** By these the person proved to have the address. A signup proves nothing, and keys and operators are no persons. */
const PROOFS_OF_ADDRESS = ['mail', 'passkey', 'oidc'] as const;
export type PersonProof = (typeof PROOFS_OF_ADDRESS)[number];

export interface Session extends LimitedCaller {
  readonly hash: Buffer;
  /** For pages and the audit trail. It tells nothing about the secret. */
  readonly id: string;
  readonly tenantName: string;
  readonly proof: Proof;
  /** A session by key or by an operator has none. That of an operator may do what an owner may. */
  readonly member: { readonly id: string; readonly email: string } | undefined;
  /** The key of a session by key: the session ends with it. */
  readonly keyId: string | undefined;
  /** The ceiling of this key as it is now: the session does nothing beyond it. */
  readonly ceiling: KeyCeiling | undefined;
  readonly operator: string | undefined;
  /** The passkey of a session by passkey: the session ends with it. */
  readonly passkeyId: string | undefined;
  readonly role: SessionRole;
  /** A person proved an address, or an operator opened it, or a key that is trusted. */
  readonly isTrusted: boolean;
  /** The founder has yet to say what to keep of what existed before the address was proved. */
  readonly mustReview: boolean;
  /** When the person logged in. */
  readonly createdAt: Date;
  /** The log-in was less than `FRESH_MINUTES` ago. */
  readonly isFresh: boolean;
}

/** The address that the person of a session proved to have. */
export function provedAddressOf({ proof, member }: Pick<Session, 'proof' | 'member'>): string | undefined {
  return (PROOFS_OF_ADDRESS as readonly Proof[]).includes(proof) ? member?.email : undefined;
}

/** For settings of automatic top-ups: the key of a session, unless it is trusted. A signup counts as the keys that it makes. */
export function untrustedKeyOf({ isTrusted, keyId, proof }: Session): string | null {
  return isTrusted ? null : (keyId ?? proof);
}

/** What is kept of a log-in, for the person to know it again. */
export interface LoginTraces {
  readonly device: string | null;
  /** The first part of the address. */
  readonly network: string | null;
  readonly createdAt: Date;
  /** When it was last used, to a minute. */
  readonly seenAt: Date;
}

/** A session as its owner sees it. */
export interface ListedSession extends LoginTraces {
  readonly id: string;
  readonly tenantName: string;
  readonly proof: Proof;
  /** `null`: a key or an operator opened it. */
  readonly email: string | null;
  readonly keyId: string | null;
  readonly operator: string | null;
}

/** Where a log-in comes from. */
export interface From {
  readonly address: string;
  /** As `describeDevice()` reads it. */
  readonly device: string | undefined;
  /** The session of the browser so far, which ends. */
  readonly before: Buffer | undefined;
}

export interface NewSecret {
  /** In base64url. */
  readonly plaintext: string;
  readonly hash: Buffer;
}

export function newSecret(): NewSecret {
  const plaintext = randomBytes(32).toString('base64url');
  return { plaintext, hash: hashSecret(plaintext) };
}

export function isSecret(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

/** The id of a session, in forms. */
export function isSessionId(text: string): boolean {
  return isId('cs', text);
}

export function hashSecret(plaintext: string): Buffer {
  return hash('sha256', plaintext, 'buffer');
}

/** What a change is made with: an API key, a session of the console, or a session by key. */
export interface ActingCaller {
  readonly tenant: TenantId;
  readonly keyId?: string | undefined;
  readonly sessionHash?: Buffer | undefined;
  /** What the session could do when it asked. */
  readonly sessionRole?: SessionRole | undefined;
}

/** Who changes something in a session: as `lockForCaller()` and the audit trail need it. */
export function changerOf(session: Session, address: string): ActingCaller & { readonly actor: Actor } {
  const { tenant, keyId, hash: sessionHash, role: sessionRole } = session;
  return { tenant, keyId, sessionHash, sessionRole, actor: actorOf(session, address) };
}

/** Who acts in a session, for the audit trail. */
export function actorOf(
  {
    member,
    keyId,
    operator,
  }: Pick<Session, 'keyId' | 'operator'> & { readonly member: { id: string } | undefined },
  address: string,
): Actor {
  if (member) return { kind: 'member', id: member.id, address };
  if (keyId !== undefined) return { kind: 'key', id: keyId, address };
  return { kind: 'operator', id: operator ?? '' };
}
