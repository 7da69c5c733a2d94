/** What events of participants do to sessions: entering opens one, leaving closes it. */
import { newId } from '../../base/lib/ids.ts';
import type { LoggedEvent } from '../../events/event.ts';
import type { Role } from '../../money/pricing/role.ts';
import { ERASED } from '../../money/records/usage-record.ts';
import type { LeaveReason, ParticipantDevice } from '../rooms/participant.ts';

/** A participant as an event shows it. Times are texts, with the microseconds that a `Date` does not hold. */
export interface SeenParticipant {
  readonly room: string;
  readonly roomUid: string;
  readonly username: string;
  readonly role: Role;
  readonly enteredAt: string;
  readonly leftAt: string | null;
  readonly leaveReason: LeaveReason | null;
  readonly devices: readonly Pick<ParticipantDevice, 'thumbprint' | 'keyId' | 'customer'>[];
}

/** The newest session of a participant in a room that has not ended. */
export interface OpenSession {
  readonly id: string;
  readonly room: string;
  readonly roomUid: string;
  readonly participant: string;
}

export interface NewSession extends OpenSession, SessionChange {
  readonly enteredAt: string;
  readonly keyId: string | null;
  readonly customer: string | null;
}

/** What a session gets: its newest role, more devices, its end. */
export interface SessionChange {
  readonly id: string;
  readonly role: Role;
  readonly devices: readonly string[];
  readonly leftAt: string | null;
  readonly leaveReason: LeaveReason | null;
}

export interface Followed {
  readonly opened: readonly NewSession[];
  readonly changed: readonly SessionChange[];
  /** Participants who left, but have no open session of their name: an erasure took the name from one of the two. */
  readonly unknown: readonly SeenParticipant[];
}

export const keyOf = (room: string, participant: string) => `${room}\0${participant}`;

/** In the order of the events. `open`: by `keyOf()`. */
export function followSessions(
  open: ReadonlyMap<string, OpenSession>,
  events: readonly Pick<LoggedEvent, 'type' | 'subject'>[],
): Followed {
  const current = new Map<string, OpenSession>(open);
  const opened = new Map<string, NewSession>();
  const changed = new Map<string, SessionChange>();
  const unknown: SeenParticipant[] = [];
  for (const { type, subject } of events) {
    const seen = subject as SeenParticipant;
    const key = keyOf(seen.room, seen.username);
    const found = current.get(key);
    // Several people may have been erased.
    const own = found?.roomUid === seen.roomUid && seen.username !== ERASED ? found : undefined;
    if (type === 'participant_left') {
      if (own) change(own, seen);
      else unknown.push(seen);
      current.delete(key);
    } else if (type === 'participant_entered') current.set(key, begin(seen));
    else if (own && seen.leftAt === null) change(own, seen);
  }
  return { opened: [...opened.values()], changed: [...changed.values()], unknown };

  function begin(seen: SeenParticipant): OpenSession {
    const { room, roomUid, username, enteredAt, devices } = seen;
    const id = newId('se');
    const { keyId = null, customer = null } = devices[0] ?? {};
    opened.set(id, {
      ...changeOf(id, seen),
      room,
      roomUid,
      participant: username,
      enteredAt,
      keyId,
      customer,
    });
    return opened.get(id)!;
  }

  function change({ id }: OpenSession, seen: SeenParticipant): void {
    const isNew = opened.get(id);
    const before = isNew ?? changed.get(id);
    const next = changeOf(id, seen, before?.devices);
    if (isNew) opened.set(id, { ...isNew, ...next });
    else changed.set(id, next);
  }
}

function changeOf(id: string, seen: SeenParticipant, before: readonly string[] = []): SessionChange {
  const { role, leftAt, leaveReason } = seen;
  const devices = [...new Set([...before, ...seen.devices.map(({ thumbprint }) => thumbprint)])];
  return { id, role, devices, leftAt, leaveReason };
}
