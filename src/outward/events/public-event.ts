/**
 * Events as tenants see them, in webhooks and in `GET /v1/events`.
 *
 * The log stores the subject of an event as the service has it. Here names become `snake_case`, amounts get the form
 * that they have in the REST interface, times become ISO 8601 with milliseconds, and what is `null` is left out.
 */
import { createHash } from 'node:crypto';
import { exactJson } from '../../base/lib/exact-json.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { withhold } from '../../control/rooms/participant.ts';
import type { LoggedEvent } from '../../events/event.ts';
import { renderAmount } from '../../money/amount.ts';
import { type PublicSubjects, schemaVersionOf, subjectOf, TEST_EVENT_TYPE } from './event-catalogue.ts';
import { AMOUNTS } from './public-data.ts';

const MICROS = /^-?\d+$/;
const IS_AMOUNT: ReadonlySet<string> = new Set(AMOUNTS);
const TIME = /^(at|deadline|.+At)$/;

type Subject = Readonly<Record<string, unknown>>;

/** As `eventSchema()` describes it. Its integers are exact in `exactJson()`. */
export interface PublicEvent {
  readonly id: string;
  readonly seq: bigint;
  readonly type: string;
  readonly schema_version: number;
  readonly timestamp: string;
  readonly skipped?: bigint;
  readonly data: unknown;
}

/** What the public form adds to some subjects, or takes from them. `ChangedSubjects` has their types. */
const CHANGES: { readonly [S in keyof PublicSubjects]?: (subject: Subject, event: LoggedEvent) => Subject } =
  {
    room: inLowerCase,
    participant: grantedOnly,
    moderation: (subject, { seq }) => ({ id: seq, ...subject }),
  };

/** `skipped` events before it were deleted before they could be delivered. */
export function publicEvent(tenant: TenantId, event: LoggedEvent, skipped = 0n): PublicEvent {
  const subject = event.subject as Subject;
  const about = subjectOf(event.type);
  return {
    id: publicEventId(tenant, event),
    seq: event.seq,
    type: event.type,
    schema_version: schemaVersionOf(event.type),
    timestamp: event.at.toISOString(),
    ...(skipped > 0n && { skipped }),
    data: renderMembers((about && CHANGES[about]?.(subject, event)) ?? subject),
  };
}

/** The event as JSON. */
export function renderPublicEvent(tenant: TenantId, event: LoggedEvent): string {
  return exactJson(publicEvent(tenant, event));
}

/** In the form of an event of the log, in which it has no number. */
export function testEvent(id: string, at: Date): PublicEvent {
  return {
    id,
    seq: 0n,
    type: TEST_EVENT_TYPE,
    schema_version: schemaVersionOf(TEST_EVENT_TYPE),
    timestamp: at.toISOString(),
    data: { message: 'This webhook works.' },
  };
}

/**
 * The same event has the same id wherever a tenant sees it. A database that was restored from a backup may give the
 * number of an event to another one, which then has another id.
 */
export function publicEventId(tenant: TenantId, { seq, at }: Pick<LoggedEvent, 'seq' | 'at'>): string {
  const hash = createHash('sha256').update(`${renderTenantId(tenant)} ${seq} ${at.getTime()}`);
  return `evt_${hash.digest('hex').slice(0, 32)}`;
}

/** The name of the room that the event is of; `null`: it has none. Like `ROOM_NAME` of SQL. */
export function roomNameOf({ roomUid, subject }: Pick<LoggedEvent, 'roomUid' | 'subject'>): string | null {
  if (roomUid === null) return null;
  const { room, name } = subject as { readonly room?: string; readonly name?: string };
  return room ?? name ?? null;
}

/** Words of the REST interface are in lower case. */
function inLowerCase(subject: Subject): Subject {
  return { ...subject, state: String(subject.state).toLowerCase() };
}

/** Only what the user may do, as the control plane shows it. */
function grantedOnly(subject: Subject): Subject {
  const { granted } = withhold(subject.capabilities as string[], {
    muted: subject.muted as never,
    publishRevoked: subject.publishRevoked as never,
  });
  return { ...subject, capabilities: granted };
}

function renderMembers(subject: Subject): Subject {
  return Object.fromEntries(
    Object.entries(subject)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [snakeCase(name), renderValue(name, value)]),
  );
}

function renderValue(name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => renderValue('', each));
  if (typeof value === 'object') return renderMembers(value as Subject);
  if (typeof value !== 'string') return value;
  if (IS_AMOUNT.has(name) && MICROS.test(value)) {
    return renderAmount(BigInt(value));
  }
  // PostgreSQL writes microseconds.
  return TIME.test(name) ? new Date(value).toISOString() : value;
}

/** As the interfaces write the name of a member. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
