/**
 * Revocations since a token was minted: kicks, bans, mutes, closed rooms and revoked device credentials of one
 * tenant.
 *
 * A token lives for 15 minutes at most, so a snapshot is short: older revocations have no token left
 * that they could apply to. Users, rooms and address ranges are hashed; `docs/revocations.md` describes the format.
 */
import { createHash } from 'node:crypto';
import { networkOf, readAddress } from './address.ts';
import { AdmissionRefused, REVOCATION_REASONS, type RevocationReason } from './refusal.ts';
import type { TokenClaims } from './token.ts';

/** Times are seconds since 1970. */
export interface Revocations {
  /** Increases with every change. */
  readonly seq: number;
  /** From then on the snapshot is too old to admit participants. */
  readonly exp: number;
  /** A user in a room, epoch: tokens of an earlier epoch are void. */
  readonly epochs: readonly (readonly [user: string, epoch: number])[];
  /** Who is banned. */
  readonly bans: readonly Ban[];
  /** A user in a room, and what the user may not publish: `audio`, `video`, `screen`, `data`. */
  readonly mutes: readonly (readonly [user: string, ...media: string[]])[];
  /** Rooms that were closed. */
  readonly closed: readonly string[];
  /** Device credentials that were revoked: every token that was minted with one is void. */
  readonly credentials?: readonly string[];
  /** Why: a user of `epochs` or a room of `closed`, and a `RevocationReason`, or one of a later version. */
  readonly reasons?: readonly (readonly [userOrRoom: string, reason: string])[];
}

/**
 * A room or `*` for the whole tenant; the banned subject; expiry (null: never). The value of a range is the
 * length of its prefix, `/` and a hash.
 */
export type Ban = readonly [
  room: string,
  kind: 'user' | 'device' | 'range',
  value: string,
  until: number | null,
];

export type Subject = Pick<
  TokenClaims,
  'tenant' | 'username' | 'roomUid' | 'epoch' | 'deviceThumbprint' | 'rangeSalt' | 'mintedBy'
>;

/**
 * Refuse a participant to whom the revocations apply. Return what the participant may not publish.
 *
 * For new tokens, and for running sessions with every new snapshot.
 */
export function checkRevocations(
  revocations: Revocations | undefined,
  subject: Subject,
  seen: { nowMs: number; address?: string | undefined },
): string[] {
  if (!revocations || seen.nowMs >= revocations.exp * 1000) throw new AdmissionRefused('REVOCATIONS_STALE');
  const { tenant, roomUid, username, rangeSalt } = subject;
  const room = hashOf('room', roomUid);
  if (revocations.closed.includes(room)) {
    throw new AdmissionRefused('ROOM_CLOSED', { reason: reasonOf(revocations, room) });
  }

  const ofEpoch = hashOf('epoch', roomUid, username);
  for (const [user, epoch] of revocations.epochs) {
    if (user === ofEpoch && subject.epoch < epoch) {
      throw new AdmissionRefused('TOKEN_REVOKED', { reason: reasonOf(revocations, user) });
    }
  }
  if (revocations.credentials?.includes(hashOf('credential', tenant, subject.mintedBy))) {
    throw new AdmissionRefused('TOKEN_REVOKED', { reason: 'credential_revoked' });
  }
  const scopes = {
    '*': { ...hashesIn(tenant, subject), isInside: rangesWith(rangeSalt, seen.address) },
    [room]: { ...hashesIn(roomUid, subject), isInside: rangesWith(roomUid, seen.address) },
  };
  for (const [scope, kind, value, until] of revocations.bans) {
    const own = scopes[scope];
    if (!own || (until !== null && seen.nowMs >= until * 1000)) continue;
    const isMeant = kind === 'range' ? own.isInside(value) : value === own[kind];
    if (isMeant) throw new AdmissionRefused('BANNED', { reason: 'banned' });
  }
  const ofMute = hashOf('mute', roomUid, username);
  return revocations.mutes.filter(([user]) => user === ofMute).flatMap(([, ...media]) => media);
}

function reasonOf({ reasons = [] }: Revocations, userOrRoom: string): RevocationReason | undefined {
  const found = reasons.find(([hash]) => hash === userOrRoom)?.[1];
  return REVOCATION_REASONS.find((each) => each === found);
}

/** The hashes by which a ban in the whole tenant, or in one room, would name this user and this device. */
function hashesIn(tenantOrRoom: string, { username, deviceThumbprint }: Subject) {
  return {
    user: hashOf('user', tenantOrRoom, username),
    device: hashOf('device', tenantOrRoom, deviceThumbprint),
  };
}

/** The hash of a user, a device, a room or a range, by its purpose and where it counts. */
export function hashOf(...parts: string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest().subarray(0, 16).toString('base64url');
}

/**
 * Tells whether the address is in a banned range, given its prefix and hash. `secret` is the uid of a room, or
 * the salt of the tenant. Each length of a prefix is hashed once, however many ranges have it.
 */
function rangesWith(secret: string, address: string | undefined): (range: string) => boolean {
  const hashes = new Map<string, string | undefined>();
  return (range) => {
    const bytes = readAddress(address ?? '');
    if (!bytes) throw new AdmissionRefused('ADDRESS_UNKNOWN');
    const [bits = '', hash] = range.split('/');
    if (!hashes.has(bits)) {
      const network = networkOf(bytes, Number(bits));
      hashes.set(bits, network && hashOf('range', secret, `${network}/${bits}`));
    }
    return hashes.get(bits) === hash;
  };
}
