/** Request fields: wire to our types. Each `parse...()` fails with `invalid_request` and names its field. */
import type { Actor as WireActor } from '@boxoffice/contract/actor';
import { TrackKind } from '@boxoffice/contract/track_kind';
import type { Duration, FieldMask, Timestamp } from '@bufbuild/protobuf/wkt';
import { durationMs, timestampDate } from '@bufbuild/protobuf/wkt';
import { type Capability, isCapability } from '../../access/rights/capabilities.ts';
import { PUBLISH_RIGHTS, type PublishRight } from '../../access/rights/publish-rights.ts';
import { ROOM_NAME_PATTERN, ROOM_PATTERN_PATTERN } from '../../access/rights/room-names.ts';
import { isThumbprint } from '../../access/tokens/device-key.ts';
import { prepareUsername } from '../../access/usernames/username.ts';
import { Failure, invalidField } from '../../base/failure.ts';
import { parseAddress } from '../../base/lib/address.ts';
import { isId } from '../../base/lib/ids.ts';
import { readPageToken } from '../../base/lib/page-token.ts';
import type { ActorName } from '../../control/rooms/participant.ts';
import type { RoomReference } from '../../control/rooms/room.ts';
import { ROLES, type Role } from '../../money/pricing/role.ts';

const ROOM_NAME = new RegExp(ROOM_NAME_PATTERN);
const ROOM_PATTERN = new RegExp(ROOM_PATTERN_PATTERN);

export const REASON_LENGTH_MAX = 500;

export function parseRoomName(text: string, field = 'room'): string {
  if (text === '') throw invalidField(field, 'is required');
  if (!ROOM_NAME.test(text)) throw invalidField(field, `must match ${ROOM_NAME_PATTERN}`);
  return text;
}

export function parseOptionalRoomName(text: string, field = 'room'): string | undefined {
  return text === '' ? undefined : parseRoomName(text, field);
}

export function parseRoomPattern(text: string, field: string): string {
  if (!ROOM_PATTERN.test(text)) throw invalidField(field, `must match ${ROOM_PATTERN_PATTERN}`);
  return text;
}

export function parseRoomReference(request: { room: string; roomUid: string }): RoomReference {
  const name = parseOptionalRoomName(request.room);
  if (request.roomUid === '') return { name: name ?? parseRoomName(''), uid: undefined };
  return { name, uid: parseId(request.roomUid, 'rm', 'room_uid') };
}

/** An identifier that the service made: `<prefix>_<32 hex>`. */
export function parseId(text: string, prefix: string, field = 'id'): string {
  if (text === '') throw invalidField(field, 'is required');
  if (!isId(prefix, text)) {
    throw invalidField(field, `must be ${prefix}_ and 32 hex characters`);
  }
  return text;
}

/** The name in the form that tokens carry. */
export function parseUsername(text: string, field = 'username'): string {
  if (text === '') throw invalidField(field, 'is required');
  const username = prepareUsername(text);
  if (username === undefined) {
    throw invalidField(field, 'must be 1 to 64 characters that a username may hold (RFC 8265)');
  }
  return username;
}

export function parseThumbprint(text: string, field = 'device_thumbprint'): string {
  if (text === '') throw invalidField(field, 'is required');
  if (!isThumbprint(text)) {
    throw invalidField(field, 'must be the thumbprint of a key: 43 characters of base64url (RFC 7638)');
  }
  return text;
}

export function parseActor(actor: WireActor | undefined): ActorName | undefined {
  return (
    actor && {
      username: parseUsername(actor.username, 'actor.username'),
      thumbprint: parseThumbprint(actor.deviceThumbprint, 'actor.device_thumbprint'),
    }
  );
}

export function parseReason(text: string): string {
  return parseText(text, 'reason', REASON_LENGTH_MAX);
}

/** Human-readable text of up to `max` characters. */
export function parseText(text: string, field: string, max: number): string {
  if (text.includes('\0')) throw invalidField(field, 'must not hold NUL');
  if (text.length > max && [...text].length > max) {
    throw invalidField(field, `must not have more than ${max} characters`);
  }
  return text;
}

export function parseRole(text: string): Role {
  if (text === '') return 'audience';
  const role = ROLES.find((each) => each === text);
  if (!role) throw invalidField('role', `must be one of ${ROLES.join(', ')}`);
  return role;
}

export function parseCapabilities(list: readonly string[], field: string): readonly Capability[] {
  return list.map((text, at) => {
    if (!isCapability(text)) throw invalidField(`${field}[${at}]`, 'is not a known capability');
    return text;
  });
}

const TRACKS: Readonly<Record<number, PublishRight>> = {
  [TrackKind.AUDIO]: 'audio',
  [TrackKind.VIDEO]: 'video',
  [TrackKind.SCREEN]: 'screen',
  [TrackKind.DATA]: 'data',
};

/** Without duplicates, in the order of `PUBLISH_RIGHTS`. */
export function parseTracks(kinds: readonly TrackKind[], field: string): readonly PublishRight[] {
  const named = kinds.map((kind, at) => {
    const track = TRACKS[kind];
    if (!track) throw invalidField(`${field}[${at}]`, 'is not a known kind of track');
    return track;
  });
  return PUBLISH_RIGHTS.filter((right) => named.includes(right));
}

export function parseSomeTracks(kinds: readonly TrackKind[]): readonly PublishRight[] {
  if (kinds.length === 0) throw invalidField('tracks', 'is required');
  return parseTracks(kinds, 'tracks');
}

/** An address in canonical form; '' means none. */
export function parseClientAddress(text: string): string | undefined {
  if (text === '') return undefined;
  const address = text.length <= 100 ? parseAddress(text) : undefined;
  if (address === undefined) throw invalidField('client_address', 'must be an IP address');
  return address;
}

interface DurationLimits {
  readonly min: number;
  readonly max: number;
}

/** Whole milliseconds, with limits in milliseconds. `undefined` is passed through. */
export function parseDurationMs(
  duration: Duration | undefined,
  field: string,
  limits: DurationLimits,
): number | undefined {
  return parseDuration(duration, field, limits, 'milliseconds');
}

/** Whole seconds, with limits in seconds. `undefined` is passed through. */
export function parseSeconds(
  duration: Duration | undefined,
  field: string,
  { min, max }: DurationLimits,
): number | undefined {
  const ms = parseDuration(duration, field, { min: min * 1000, max: max * 1000 }, 'seconds');
  return ms === undefined ? undefined : ms / 1000;
}

/** In milliseconds. */
function parseDuration(
  duration: Duration | undefined,
  field: string,
  { min, max }: DurationLimits,
  unit: 'seconds' | 'milliseconds',
): number | undefined {
  if (!duration) return undefined;
  const { seconds, nanos } = duration;
  const isWhole =
    nanos % (unit === 'seconds' ? 1_000_000_000 : 1_000_000) === 0 && Math.abs(nanos) < 1_000_000_000;
  // Seconds and nanoseconds have the same sign, as `Duration` requires.
  const isSigned = nanos === 0 || seconds === 0n || seconds > 0n === nanos > 0;
  const isSmall = seconds >= -1_000_000_000_000n && seconds <= 1_000_000_000_000n;
  const ms = isWhole && isSigned && isSmall ? durationMs(duration) : undefined;
  if (ms === undefined || ms < min || ms > max) {
    throw invalidField(field, `must be ${min / 1000} to ${max / 1000} s, in whole ${unit}`);
  }
  return ms;
}

export function parseTime(time: Timestamp | undefined, field: string): Date | undefined {
  if (!time) return undefined;
  const date = timestampDate(time);
  const isValid =
    time.nanos >= 0 && time.nanos < 1_000_000_000 && date.getFullYear() >= 1 && date.getFullYear() < 10_000;
  if (!isValid) throw invalidField(field, 'must be a time in the years 1 to 9999');
  return date;
}

const PAGE_SIZE_DEFAULT = 50;
const PAGE_SIZE_MAX = 500;

export function parsePageSize(size: number): number {
  if (size < 0 || size > PAGE_SIZE_MAX) throw invalidField('page_size', `must be 0 to ${PAGE_SIZE_MAX}`);
  return size || PAGE_SIZE_DEFAULT;
}

/** The last item of the previous page, as `renderPageToken()` encoded it; `undefined`: the first page. */
export function parseToken(text: string, field = 'page_token'): readonly string[] | undefined {
  if (text === '') return undefined;
  const parts = readPageToken(text);
  if (!parts) throw invalidField(field, 'must be one that an answer gave');
  return parts;
}

export { renderPageToken as renderToken } from '../../base/lib/page-token.ts';

interface Changeable<Path extends string> {
  /** The request field that the paths are relative to. */
  readonly of: string;
  readonly mutable: readonly Path[];
  readonly immutable: readonly string[];
}

/** The paths of a mask. Each must be one of `mutable`, and there must be at least one. */
export function parseMask<Path extends string>(
  mask: FieldMask | undefined,
  { of, mutable, immutable }: Changeable<Path>,
): readonly Path[] {
  const paths = mask?.paths ?? [];
  if (paths.length === 0) throw invalidField('update_mask', 'is required');
  for (const path of paths) {
    if (immutable.includes(path)) {
      throw new Failure('immutable_field', {
        message: `invalid request: ${of}.${path} cannot be changed`,
        field: `${of}.${path}`,
      });
    }
    if (!(mutable as readonly string[]).includes(path)) {
      throw invalidField('update_mask', `must be among ${mutable.join(', ')}`);
    }
  }
  return mutable.filter((path) => paths.includes(path));
}
