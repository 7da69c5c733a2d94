/**
 * What has been taken back since a token was minted: kicks, bans, mutes, closed rooms of one tenant.
 *
 * A token lives for 15 minutes at most, so a snapshot is short: whatever is older has no token left
 * that it could concern.
 */
import { BlockList, isIP } from 'node:net';
import { AdmissionRefused } from './refusal.ts';
import type { TokenClaims } from './token.ts';

/** Times are seconds since 1970. */
export interface Revocations {
  /** Grows with every change. */
  readonly seq: number;
  /** From then on the snapshot is too old to admit anybody by. */
  readonly exp: number;
  /** Room uid, username, epoch: that user's tokens of an earlier epoch are void in that room. */
  readonly epochs: readonly (readonly [string, string, number])[];
  /** Room uid or `*` for the whole tenant, kind, value, end (null: none). */
  readonly bans: readonly (readonly [string, 'user' | 'device' | 'cidr', string, number | null])[];
  /** Room uid, username, what that user may not publish: `audio`, `video`, `screen` or `data`. */
  readonly mutes: readonly (readonly [string, string, string])[];
  /** Uids of rooms that were closed. */
  readonly closed: readonly string[];
}

export type Subject = Pick<TokenClaims, 'username' | 'roomUid' | 'epoch' | 'deviceThumbprint'>;

/**
 * Refuse a participant whom the revocations concern; return what the participant may not publish.
 *
 * Serves for tokens that come in, and for sessions that run, with every new snapshot.
 */
export function checkRevocations(
  revocations: Revocations | undefined,
  subject: Subject,
  seen: { nowMs: number; address?: string | undefined },
): string[] {
  if (!revocations || seen.nowMs >= revocations.exp * 1000) throw new AdmissionRefused('REVOCATIONS_STALE');
  if (revocations.closed.includes(subject.roomUid)) throw new AdmissionRefused('ROOM_CLOSED');

  for (const [roomUid, username, epoch] of revocations.epochs) {
    if (isSame(subject, roomUid, username) && subject.epoch < epoch)
      throw new AdmissionRefused('TOKEN_REVOKED');
  }
  for (const [scope, kind, value, until] of revocations.bans) {
    if (scope !== '*' && scope !== subject.roomUid) continue;
    if (until !== null && seen.nowMs >= until * 1000) continue;
    if (isMeant(subject, kind, value, seen.address)) throw new AdmissionRefused('BANNED');
  }
  return revocations.mutes
    .filter(([roomUid, username]) => isSame(subject, roomUid, username))
    .map(([, , media]) => media);
}

function isSame(subject: Subject, roomUid: string, username: string): boolean {
  return roomUid === subject.roomUid && username === subject.username;
}

function isMeant(subject: Subject, kind: string, value: string, address: string | undefined): boolean {
  if (kind === 'user') return value === subject.username;
  if (kind === 'device') return value === subject.deviceThumbprint;
  if (address === undefined || isIP(address) === 0) throw new AdmissionRefused('ADDRESS_UNKNOWN');
  return isInside(address, value);
}

/** Addresses of IPv4 that are spelled as IPv6 are found in ranges of IPv4. */
function isInside(address: string, cidr: string): boolean {
  const [network = '', bits] = cidr.split('/');
  const range = new BlockList();
  range.addSubnet(network, Number(bits), isIP(network) === 6 ? 'ipv6' : 'ipv4');
  return range.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}
