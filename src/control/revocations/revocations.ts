/**
 * What has been taken back of a tenant's tokens, as relays are told: kicks, bans, mutes, closed rooms.
 *
 * Source: specification 5. Whoever asks may read it, so people and rooms stand in it as hashes that
 * only somebody who has a token can compare with. `docs/tokens.md` describes the form.
 */
import { createHash } from 'node:crypto';
import type { PublishRight } from '../../access/rights/publish-rights.ts';
import { TOKEN_SECONDS_MAX } from '../../access/rights/token-lifetime.ts';
import { audienceOf } from '../../access/tokens/participant-token.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import type { SubjectKind } from '../moderation/moderation-event.ts';

/** Explicit, so that a participant token is never taken for one (RFC 8725, 3.11). */
export const REVOCATIONS_TYPE = 'revocations+jwt';

/** For so long a relay may admit people by one snapshot. */
const SNAPSHOT_SECONDS = 60;

/** For so long a token may be about that does not know of a change; a minute is for slow clocks. */
export const KEPT_SECONDS = TOKEN_SECONDS_MAX + 60;

/** Everything that a snapshot tells, as it was at one instant. */
export interface RevocationState {
  /** The newest event that changed anything. */
  readonly seq: bigint;
  /** Seconds since 1970, by the clock of the database. */
  readonly issuedAt: number;
  /** The signing key that is active at this very moment. */
  readonly kid: string | null;
  readonly participants: readonly {
    readonly roomUid: string;
    readonly username: string;
    readonly epoch: number;
    /** What a moderator has muted or taken. */
    readonly withheld: readonly PublishRight[];
  }[];
  readonly bans: readonly {
    /** `null`: every room of the tenant. */
    readonly roomUid: string | null;
    readonly kind: SubjectKind;
    readonly value: string;
    /** Seconds since 1970; `null`: without an end. */
    readonly until: number | null;
  }[];
  readonly closedRooms: readonly string[];
}

export interface RevocationClaims {
  readonly iss: string;
  readonly aud: string;
  readonly tid: string;
  readonly seq: number;
  readonly iat: number;
  readonly exp: number;
  readonly epochs: readonly (readonly [user: string, epoch: number])[];
  readonly bans: readonly (readonly [room: string, kind: SubjectKind, value: string, until: number | null])[];
  readonly mutes: readonly (readonly [user: string, ...media: PublishRight[]])[];
  readonly closed: readonly string[];
}

export function revocationClaimsOf(
  tenant: TenantId,
  state: RevocationState,
  publicUrl: string,
): RevocationClaims {
  const tid = renderTenantId(tenant);
  return {
    iss: publicUrl,
    aud: audienceOf(publicUrl),
    tid,
    seq: Number(state.seq),
    iat: state.issuedAt,
    exp: state.issuedAt + SNAPSHOT_SECONDS,
    epochs: state.participants
      .filter(({ epoch }) => epoch > 0)
      .map(({ roomUid, username, epoch }) => [hashOf('epoch', roomUid, username), epoch]),
    bans: state.bans.map(({ roomUid, kind, value, until }) => [
      roomUid === null ? '*' : hashOf('room', roomUid),
      kind,
      // A range can only be matched where it can be read.
      kind === 'cidr' ? value : hashOf(kind, roomUid ?? tid, value),
      until,
    ]),
    mutes: state.participants
      .filter(({ withheld }) => withheld.length > 0)
      .map(({ roomUid, username, withheld }) => [
        hashOf('mute', roomUid, username),
        ...new Set(withheld.toSorted()),
      ]),
    closed: state.closedRooms.map((roomUid) => hashOf('room', roomUid)),
  };
}

/**
 * 22 characters for what is meant: base64url of the first half of SHA-256.
 *
 * The uid of a room has 128 random bits and is known to its participants and their relays alone. Of
 * what is banned in the whole tenant, names can be tried.
 */
export function hashOf(
  purpose: 'room' | 'epoch' | 'mute' | 'user' | 'device',
  roomOrTenant: string,
  value?: string,
): string {
  // None of them has a NUL inside, so no two lists make the same text.
  const text = [purpose, roomOrTenant, ...(value === undefined ? [] : [value])].join('\0');
  return createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');
}
