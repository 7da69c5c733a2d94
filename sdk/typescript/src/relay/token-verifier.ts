/**
 * Admission at a relay, decided without a request to the service.
 *
 * `docs/tokens.md` explains the twelve checks, their order and their codes.
 */
import { type Challenges, createChallenges } from './challenges.ts';
import { verifyProof } from './proof.ts';
import { AdmissionRefused } from './refusal.ts';
import { checkRevocations, type Revocations } from './revocations.ts';
import { fetchedKeys, fixedKeys, type Jwks } from './signing-keys.ts';
import { type TokenClaims, verifyToken } from './token.ts';
import { type Clock, systemClock } from './usage/clock.ts';

/** Whose tokens are accepted, and the keys: `jwksUrl`, or `jwks` for keys that never change. */
export type TokenVerifierOptions = {
  /** `iss` of the tokens: the base URL of the deployment. */
  readonly issuer: string;
  /** `aud` of the tokens: `relay:` and the host of the deployment. */
  readonly audience: string;
  /** Tenants that are served here. Default: all. The set may change while it is in use. */
  readonly tenants?: ReadonlySet<string>;
  /** Names of rooms that are served here. Default: all. The set may change while it is in use. */
  readonly rooms?: ReadonlySet<string>;
  /** The uid of the room that has the name now, if the relay knows it. */
  readonly currentRoomUid?: (tenant: string, room: string) => string | undefined;
  /** The newest snapshot of the tenant. Undefined while there is none, which refuses all participants. */
  readonly revocations?: (tenant: string) => Revocations | undefined;
  /** Whether the tenant has credit for new sessions. */
  readonly admitted?: (tenant: string) => boolean;
  /** Whether one of these budgets of the tenant is spent: that of the feed. Then new sessions are refused with `NOT_ADMITTED`. */
  readonly budgetReached?: (tenant: string, budgets: readonly string[]) => boolean;
  /** For tests: time. */
  readonly clock?: Pick<Clock, 'now' | 'wallNow'>;
  /** For tests: the network. */
  readonly fetch?: typeof fetch;
} & (
  | {
      /** Address of the service's keys, which are fetched and kept: `/.well-known/jwks.json`. */
      readonly jwksUrl: string | URL;
      /** Not together with `jwksUrl`. */
      readonly jwks?: never;
    }
  | {
      /** The keys themselves; nothing is fetched. */
      readonly jwks: Jwks;
      /** Not together with `jwks`. */
      readonly jwksUrl?: never;
    }
);

/** What a device presents, and what the relay knows about the connection. */
export interface Attempt {
  /** The participant token. */
  readonly token: string;
  /** The device's proof that the token is its own. */
  readonly proof: string;
  /** The challenge that was issued for this connection, from the relay's memory. */
  readonly challenge: string;
  /** The address of this relay for devices, from the relay's settings; never from a request header. */
  readonly url: string;
  /** The method that the proof names: `CONNECT`, unless the relay chose another. */
  readonly method: string;
  /** SHA-256 of the device's DTLS certificate: 32 hex pairs with colons, from the DTLS connection. */
  readonly dtlsFingerprint: string;
  /** The device's IP address. Needed only if addresses are banned. */
  readonly address?: string;
}

/** An admitted participant, until `expiresAt`. */
export interface Admission extends TokenClaims {
  /** What a moderator has muted: any of `audio`, `video`, `screen`, `data`. */
  readonly muted: readonly string[];
}

/** User, room and device of a session, as in an `Admission`. */
export type Participant = Pick<TokenClaims, 'tenant' | 'username' | 'roomUid' | 'deviceThumbprint'>;

/** Decides on admission; `verify` and `renew` reject with `AdmissionRefused`, whose `code` is in `REFUSALS`. */
export interface TokenVerifier {
  /** A new challenge, to send to one device. It can be used once within 60 seconds. */
  challenge(): string;
  /** Admit a new participant, or throw `AdmissionRefused`. */
  verify(attempt: Attempt): Promise<Admission>;
  /**
   * Extend the stay of a participant: same user, room and device, with a new token and a new challenge.
   *
   * Running sessions continue without credit, so credit is not checked.
   */
  renew(previous: Participant, attempt: Attempt): Promise<Admission>;
}

/**
 * Create the verifier of a relay. It opens nothing: signing keys are fetched from `jwksUrl` on first
 * use, and cached for ten minutes.
 */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const clock = options.clock ?? systemClock;
  const keys = options.jwks
    ? fixedKeys(options.jwks)
    : fetchedKeys(options.jwksUrl, { fetch: options.fetch ?? fetch, clock });
  const expected = { issuer: options.issuer, audience: options.audience, keys, clock };
  const challenges = createChallenges(clock);

  /** Checks 1 to 11, for both newcomers and renewals. */
  async function verifyPossession(attempt: Attempt): Promise<Admission> {
    const claims = await verifyToken(attempt.token, expected);
    checkServed(claims, options);
    const muted = options.revocations
      ? checkRevocations(options.revocations(claims.tenant), claims, {
          nowMs: clock.wallNow(),
          address: attempt.address,
        })
      : [];
    await checkConnection(attempt, claims, challenges);
    return { ...claims, muted };
  }

  return {
    challenge: () => challenges.issue(),
    async verify(attempt) {
      const admission = await verifyPossession(attempt);
      const { tenant, budgets } = admission;
      if (options.admitted?.(tenant) === false) throw new AdmissionRefused('NOT_ADMITTED');
      if (options.budgetReached?.(tenant, budgets)) throw new AdmissionRefused('NOT_ADMITTED');
      return admission;
    },
    async renew(previous, attempt) {
      const admission = await verifyPossession(attempt);
      if (!isSameParticipant(previous, admission)) throw new AdmissionRefused('RENEWAL_OTHER_PARTICIPANT');
      return admission;
    },
  };
}

function checkServed(claims: TokenClaims, options: TokenVerifierOptions): void {
  if (options.tenants?.has(claims.tenant) === false) throw new AdmissionRefused('TENANT_NOT_SERVED');
  if (options.rooms?.has(claims.room) === false) throw new AdmissionRefused('ROOM_NOT_SERVED');
  const currentUid = options.currentRoomUid?.(claims.tenant, claims.room) ?? claims.roomUid;
  if (claims.roomUid !== currentUid) throw new AdmissionRefused('ROOM_NOT_CURRENT');
}

async function checkConnection(attempt: Attempt, claims: TokenClaims, challenges: Challenges): Promise<void> {
  const { deviceThumbprint } = claims;
  const provenFingerprint = await verifyProof(attempt.proof, { ...attempt, deviceThumbprint });
  if (!challenges.use(attempt.challenge)) throw new AdmissionRefused('CHALLENGE_UNUSABLE');
  if (provenFingerprint !== attempt.dtlsFingerprint.toLowerCase()) {
    throw new AdmissionRefused('DTLS_OTHER_CERTIFICATE');
  }
}

function isSameParticipant(one: Participant, other: Participant): boolean {
  return (
    one.tenant === other.tenant &&
    one.username === other.username &&
    one.roomUid === other.roomUid &&
    one.deviceThumbprint === other.deviceThumbprint
  );
}
