/**
 * Revocations of a tenant's tokens, as sent to relays: kicks, bans, mutes, closed rooms, revoked
 * device credentials.
 *
 * Source: specification 5. Anyone may read them, so users, rooms and address ranges appear as hashes that
 * only the holder of a token can match. `docs/revocations.md` describes the format.
 */
import { createHash } from 'node:crypto';
import type { PublishRight } from '../../access/rights/publish-rights.ts';
import { TOKEN_SECONDS_MAX } from '../../access/rights/token-lifetime.ts';
import { audienceOf } from '../../access/tokens/participant-token.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { renderNetwork } from '../bans/address-range.ts';
import type { SubjectKind } from '../bans/ban.ts';
import type { ExpelReason } from '../rooms/participant.ts';
import type { EndReason } from '../rooms/room.ts';

/** Explicit, so that a participant token is never mistaken for one (RFC 8725, 3.11). */
export const REVOCATIONS_TYPE = 'revocations+jwt';

/** How long a relay may use one snapshot. */
const SNAPSHOT_SECONDS = 60;

/** How long a token from before a change may stay valid, plus a minute for clock skew. */
export const KEPT_SECONDS = TOKEN_SECONDS_MAX + 60;

/** The contents of a snapshot, as of one instant. */
export interface RevocationState {
  /** The newest event that revoked anything. */
  readonly seq: bigint;
  /** Seconds since 1970, by the clock of the database. */
  readonly issuedAt: number;
  /** The signing key that is active now. */
  readonly kid: string | null;
  readonly participants: readonly {
    readonly roomUid: string;
    readonly username: string;
    readonly epoch: number;
    /** Why the epoch began; `null`: it is the first one, or that is not known. */
    readonly reason: ExpelReason | null;
    /** What a moderator has muted or revoked. */
    readonly withheld: readonly PublishRight[];
  }[];
  /** Secret of the tenant, which its tokens carry. */
  readonly rangeSalt: string;
  readonly bans: readonly {
    /** `null`: every room of the tenant. */
    readonly roomUid: string | null;
    readonly kind: SubjectKind;
    readonly value: string;
    /** Seconds since 1970; `null`: without an end. */
    readonly until: number | null;
  }[];
  readonly closedRooms: readonly { readonly roomUid: string; readonly reason: EndReason }[];
  /** Ids of the device credentials that were revoked. */
  readonly credentials: readonly string[];
}

/** A `cidr` is told as a hashed `range`. */
type BanKind = Exclude<SubjectKind, 'cidr'> | 'range';

export interface RevocationClaims {
  readonly iss: string;
  readonly aud: string;
  readonly tid: string;
  readonly seq: number;
  readonly iat: number;
  readonly exp: number;
  readonly epochs: readonly (readonly [user: string, epoch: number])[];
  readonly bans: readonly (readonly [room: string, kind: BanKind, value: string, until: number | null])[];
  readonly mutes: readonly (readonly [user: string, ...media: PublishRight[]])[];
  readonly closed: readonly string[];
  /** Device credentials whose tokens are void, because they were revoked. Earlier readers ignore it. */
  readonly credentials: readonly string[];
  /** Why, for entries of `epochs` and `closed`. Readers may ignore it. */
  readonly reasons: readonly (readonly [userOrRoom: string, ExpelReason | EndReason])[];
}

export function revocationClaimsOf(
  tenant: TenantId,
  state: RevocationState,
  publicUrl: string,
): RevocationClaims {
  const tid = renderTenantId(tenant);
  const expelled = state.participants
    .filter(({ epoch }) => epoch > 0)
    .map(({ roomUid, username, ...rest }) => ({ ...rest, user: hashOf('epoch', roomUid, username) }));
  const closed = state.closedRooms.map(({ roomUid, reason }) => ({ room: hashOf('room', roomUid), reason }));
  return {
    iss: publicUrl,
    aud: audienceOf(publicUrl),
    tid,
    seq: Number(state.seq),
    iat: state.issuedAt,
    exp: state.issuedAt + SNAPSHOT_SECONDS,
    epochs: expelled.map(({ user, epoch }) => [user, epoch]),
    bans: state.bans.map(({ roomUid, kind, value, until }) => [
      roomUid === null ? '*' : hashOf('room', roomUid),
      ...(kind === 'cidr'
        ? (['range', hashRange(roomUid ?? state.rangeSalt, value)] as const)
        : ([kind, hashOf(kind, roomUid ?? tid, value)] as const)),
      until,
    ]),
    mutes: state.participants
      .filter(({ withheld }) => withheld.length > 0)
      .map(({ roomUid, username, withheld }) => [
        hashOf('mute', roomUid, username),
        ...new Set(withheld.toSorted()),
      ]),
    closed: closed.map(({ room }) => room),
    credentials: state.credentials.map((id) => hashOf('credential', tid, id)),
    reasons: [
      ...expelled.flatMap(({ user, reason }) => (reason === null ? [] : [[user, reason] as const])),
      ...closed.map(({ room, reason }) => [room, reason] as const),
    ],
  };
}

/**
 * 22 characters: base64url of the first half of SHA-256.
 *
 * The uid of a room has 128 random bits and is known only to its participants and their relays. The names in
 * tenant-wide bans can be guessed; the id of a credential is random. Ranges can be tried one after another, so tenant-wide bans of ranges are
 * hashed with a salt that is as secret as the uid.
 */
export function hashOf(
  purpose: 'room' | 'epoch' | 'mute' | 'user' | 'device' | 'range' | 'credential',
  roomOrTenant: string,
  value?: string,
): string {
  // No part contains NUL, so different parts give different texts.
  const text = [purpose, roomOrTenant, ...(value === undefined ? [] : [value])].join('\0');
  return createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');
}

/** The length of the prefix in plain text, by which a relay knows how much of an address to hash. */
function hashRange(roomOrSalt: string, range: string): string {
  return `${range.split('/')[1]}/${hashOf('range', roomOrSalt, renderNetwork(range))}`;
}
