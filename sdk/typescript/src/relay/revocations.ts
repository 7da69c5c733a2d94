/**
 * Revocations since a token was minted: kicks, bans, mutes, closed rooms of one tenant.
 *
 * A token lives for 15 minutes at most, so a snapshot is short: older revocations have no token left
 * that they could apply to. Users and rooms are hashed; `docs/tokens.md` describes the format.
 */
import { createHash } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { AdmissionRefused } from './refusal.ts';
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
}

/** A room or `*` for the whole tenant; the banned subject; expiry (null: never). Ranges are not hashed. */
export type Ban = readonly [
  room: string,
  kind: 'user' | 'device' | 'cidr',
  value: string,
  until: number | null,
];

export type Subject = Pick<TokenClaims, 'tenant' | 'username' | 'roomUid' | 'epoch' | 'deviceThumbprint'>;

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
  const { tenant, roomUid, username } = subject;
  const room = hashOf('room', roomUid);
  if (revocations.closed.includes(room)) throw new AdmissionRefused('ROOM_CLOSED');

  const ofEpoch = hashOf('epoch', roomUid, username);
  for (const [user, epoch] of revocations.epochs) {
    if (user === ofEpoch && subject.epoch < epoch) throw new AdmissionRefused('TOKEN_REVOKED');
  }
  const hashes = { '*': hashesIn(tenant, subject), [room]: hashesIn(roomUid, subject) };
  for (const ban of revocations.bans) {
    const [scope, kind, value, until] = ban;
    const own = hashes[scope];
    if (!own || (until !== null && seen.nowMs >= until * 1000)) continue;
    const isMeant = kind === 'cidr' ? isInside(seen.address, ban) : value === own[kind];
    if (isMeant) throw new AdmissionRefused('BANNED');
  }
  const ofMute = hashOf('mute', roomUid, username);
  return revocations.mutes.filter(([user]) => user === ofMute).flatMap(([, ...media]) => media);
}

/** The hashes by which a ban in the whole tenant, or in one room, would name this user and this device. */
function hashesIn(tenantOrRoom: string, { username, deviceThumbprint }: Subject) {
  return {
    user: hashOf('user', tenantOrRoom, username),
    device: hashOf('device', tenantOrRoom, deviceThumbprint),
  };
}

function hashOf(...parts: string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest().subarray(0, 16).toString('base64url');
}

const ranges = new WeakMap<Ban, BlockList>();

/** IPv4-mapped IPv6 addresses match IPv4 ranges. */
function isInside(address: string | undefined, ban: Ban): boolean {
  if (address === undefined || isIP(address) === 0) throw new AdmissionRefused('ADDRESS_UNKNOWN');
  let range = ranges.get(ban);
  if (!range) {
    range = rangeOf(ban);
    ranges.set(ban, range);
  }
  return range.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

function rangeOf([, , cidr]: Ban): BlockList {
  const [network = '', bits] = cidr.split('/');
  const range = new BlockList();
  range.addSubnet(network, Number(bits), isIP(network) === 6 ? 'ipv6' : 'ipv4');
  return range;
}
