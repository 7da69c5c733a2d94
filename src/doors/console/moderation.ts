/** What the pages about rooms have in common: who moderates, and fields of their forms. */
import { PUBLISH_RIGHTS, type PublishRight } from '../../access/rights/publish-rights.ts';
import { ROOM_NAME_PATTERN } from '../../access/rights/room-names.ts';
import { actorOf } from '../../access/sessions/session.ts';
import { isThumbprint } from '../../access/tokens/device-key.ts';
import { prepareUsername } from '../../access/usernames/username.ts';
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { invalidField } from '../../base/failure.ts';
import { parseAddressRange } from '../../control/bans/address-range.ts';
import type { Subject } from '../../control/bans/ban.ts';
import type { Moderator } from '../../control/rooms/moderator.ts';
import type { Form } from '../http/form.ts';
import type { SessionCall } from './route.ts';

export const REASON_LENGTH_MAX = 500;

const ROOM_NAME = new RegExp(ROOM_NAME_PATTERN);

/**
 * Run `work` in one transaction, for the person or key of the session, and wake readers of events. A session by
 * key acts within its ceiling; a person acts for the tenant, whatever ranks participants have.
 */
export async function moderate<T>(
  { deps, session, address }: SessionCall,
  work: (tx: Tx, moderator: Moderator) => Promise<T>,
): Promise<T> {
  const { tenant, tenantStatus, tenantLimits, keyId = null, ceiling: within } = session;
  const actor = actorOf(session, address);
  const done = await inTransaction(deps.db, (tx) =>
    work(tx, { tenant, tenantStatus, tenantLimits, keyId, within, actor }),
  );
  deps.events.wake(tenant);
  return done;
}

export function parseRoomName(text: string | undefined): string {
  const name = text?.trim() ?? '';
  if (!ROOM_NAME.test(name))
    throw invalidField('room', 'must be 1 to 128 letters, digits, dots, underscores and hyphens');
  return name;
}

/** An empty field means every room. */
export function parseOptionalRoom(text: string | undefined): string | undefined {
  return (text?.trim() ?? '') === '' ? undefined : parseRoomName(text);
}

/** The name in the form that tokens carry. */
export function parseUsername(text: string | undefined): string {
  const username = prepareUsername(text?.trim() ?? '');
  if (username === undefined)
    throw invalidField('username', 'must be 1 to 64 characters that a username may hold');
  return username;
}

export function parseReason(form: Form): string {
  const reason = (form.get('reason') ?? '').trim();
  if ([...reason].length > REASON_LENGTH_MAX)
    throw invalidField('reason', `must have at most ${REASON_LENGTH_MAX} characters`);
  return reason;
}

/** One field for each kind of track, because a form has each field once. */
export function parseTracks(form: Form): readonly PublishRight[] {
  const tracks = PUBLISH_RIGHTS.filter((right) => form.get(right) !== undefined);
  if (tracks.length === 0)
    throw invalidField('tracks', 'must be at least one of audio, video, screen and data');
  return tracks;
}

export function parseSubject(kind: string | undefined, text: string | undefined): Subject {
  const value = text?.trim() ?? '';
  switch (kind) {
    case 'user':
      return { kind, value: parseUsername(value) };
    case 'device':
      if (!isThumbprint(value))
        throw invalidField(
          'subject',
          'must be the thumbprint of a key: 43 letters, digits, hyphens and underscores',
        );
      return { kind, value };
    case 'cidr': {
      const range = value.length <= 100 ? parseAddressRange(value) : undefined;
      if (range === undefined)
        throw invalidField(
          'subject',
          'must be a range such as 203.0.113.0/24: /8 to /32 of IPv4, or /16 to /128 of IPv6',
        );
      return { kind, value: range };
    }
    default:
      throw invalidField('kind', 'must be one of user, device, cidr');
  }
}

const HOUR_MS = 3_600_000;

/** How long a ban lasts. */
export const BAN_TIMES: readonly {
  readonly value: string;
  readonly text: string;
  readonly ms: number | null;
}[] = [
  { value: 'ever', text: 'until it is lifted', ms: null },
  { value: 'hour', text: 'for 1 hour', ms: HOUR_MS },
  { value: 'day', text: 'for 1 day', ms: 24 * HOUR_MS },
  { value: 'week', text: 'for 7 days', ms: 168 * HOUR_MS },
  { value: 'month', text: 'for 30 days', ms: 720 * HOUR_MS },
];

/** `room`: none is all rooms. */
export function banSentence(who: string, room: string | undefined, time: string | undefined): string {
  return `${who} is banned from ${room ?? 'all rooms'} ${BAN_TIMES.find(({ value }) => value === time)?.text}.`;
}

/** In milliseconds; `null`: until it is lifted. */
export function parseBanTime(text: string | undefined): number | null {
  const time = BAN_TIMES.find(({ value }) => value === text);
  if (!time) throw invalidField('time', 'must be one of the choices');
  return time.ms;
}
