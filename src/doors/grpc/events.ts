/** Renders events and event streams, and their resume tokens. */
import { type EventSchema, Event_Type as Type } from '@boxoffice/contract/event';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { type DurationSchema, timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { ApiKeyChange } from '../../access/keys/key-events.ts';
import { invalidField } from '../../base/failure.ts';
import type { Event, StreamItem } from '../../control/streams/stream-event.ts';
import type { Place } from '../../events/event.ts';
import {
  type PublicEventType,
  type PublicSubjects,
  subjectOf,
} from '../../outward/events/event-catalogue.ts';
import { parseToken, renderToken } from './fields.ts';
import {
  renderApiKey,
  renderDeviceCredential,
  renderModerationEvent,
  renderParticipant,
  renderRoom,
  renderWatchdog,
} from './render.ts';

type WireEvent = MessageInitShape<typeof EventSchema>;

/** The fields common to every response of a stream. */
export interface Told {
  readonly event: WireEvent;
  readonly resumeToken: string;
}

/** The scope of a resume token: the tenant, and the events that were requested. */
export type Scope = readonly string[];

/** The last handled position. `undefined`: start from the beginning. A token of another scope is invalid. */
export function parseResumeToken(text: string, scope: Scope): Place | undefined {
  const parts = parseToken(text, 'resume_token');
  if (!parts) return undefined;
  const [, seq = '', ms = ''] = parts;
  if (/^\d{1,18}$/.test(seq) && /^\d{0,15}$/.test(ms)) {
    const place = { seq: BigInt(seq), at: ms === '' ? null : new Date(Number(ms)) };
    if (renderResumeToken(place, scope) === text) return place;
  }
  throw invalidField('resume_token', 'must be one that an answer gave, about the same');
}

export function renderResumeToken({ seq, at }: Place, scope: Scope): string {
  return renderToken(['e', String(seq), at === null ? '' : String(at.getTime()), ...scope]);
}

export function renderItem(item: StreamItem, scope: Scope): Told {
  switch (item.type) {
    case 'event':
      return { event: renderEvent(item.event), resumeToken: renderResumeToken(item.event, scope) };
    case 'snapshot':
      return { event: renderResource(item), resumeToken: '' };
    case 'bookmark': {
      const event = { seq: item.seq, type: Type.BOOKMARK, kind: { case: 'bookmark' as const, value: {} } };
      return { event, resumeToken: renderResumeToken(item, scope) };
    }
    case 'reset':
      return { event: RESET, resumeToken: '' };
  }
}

export const RESET: WireEvent = { type: Type.RESET, kind: { case: 'reset', value: {} } };

/** Source: google/protobuf/duration.proto. About 10,000 years. */
const DURATION_SECONDS_MAX = 315_576_000_000;

type Kind = NonNullable<WireEvent['kind']>;
/** The message of a subject, as `create()` takes it. */
type Message<S extends keyof PublicSubjects> = Extract<Kind, { readonly case: S }>['value'];

export const SUBJECT_RENDERERS: {
  readonly [S in keyof PublicSubjects]: (subject: PublicSubjects[S], seq: bigint) => Message<S>;
} = {
  room: renderRoom,
  participant: renderParticipant,
  moderation: (subject, id) => renderModerationEvent({ ...subject, id }),
  watchdog: renderWatchdog,
  credit: ({ balance, admitted }) => ({ balanceMicros: BigInt(balance), admitted }),
  balanceAlert: ({ balance, below }) => ({ balanceMicros: BigInt(balance), belowMicros: BigInt(below) }),
  runwayAlert: ({ balance, belowHours, burnPerHour, runwayHours, emptyAt }) => ({
    balanceMicros: BigInt(balance),
    below: renderHours(belowHours),
    burnPerHourMicros: BigInt(burnPerHour),
    ...(runwayHours !== null && { runway: renderHours(runwayHours) }),
    ...(emptyAt && { emptyTime: timestampFromDate(emptyAt) }),
  }),
  budgetAlert: ({ budget, percent, spent, limit, periodStartedAt }) => ({
    budget,
    percent,
    spentMicros: BigInt(spent),
    limitMicros: BigInt(limit),
    periodStartTime: timestampFromDate(periodStartedAt),
  }),
  topUp: ({ automatic, amount, paymentId, error }) => ({
    automatic,
    amountMicros: BigInt(amount),
    paymentId: paymentId ?? '',
    error: error ?? '',
  }),
  paymentReversal: ({ amount, ...reversal }) => ({ ...reversal, amountMicros: BigInt(amount) }),
  paymentDispute: ({ amount, reason, ...dispute }) => ({
    ...dispute,
    amountMicros: BigInt(amount),
    reason: reason ?? '',
  }),
  paymentDisputeEnd: (end) => end,
  cardExpiry: (expiry) => expiry,
  grantExpiry: ({ amount, left, expiresAt, ...grant }) => ({
    ...grant,
    amountMicros: BigInt(amount),
    leftMicros: BigInt(left),
    expireTime: timestampFromDate(expiresAt),
  }),
  conflictingDuplicates: ({ count, ids, firstAt }) => ({
    count: BigInt(count),
    ids: [...ids],
    firstTime: timestampFromDate(firstAt),
  }),
  readyStatement: ({ month, opening, closing }) => ({
    month,
    openingMicros: BigInt(opening),
    closingMicros: BigInt(closing),
  }),
  tenantStatus: (change) => change,
  apiKey: ({ key, ...replaced }) => ({ key: renderApiKey(key), ...renderReplaced(replaced) }),
  keyRetirement: ({ keyId, name, kind, retiresAt }) => ({
    keyId,
    name,
    kind,
    retireTime: timestampFromDate(retiresAt),
  }),
  deviceCredential: ({ credential, ...replaced }) => ({
    credential: renderDeviceCredential(credential),
    ...renderReplaced(replaced),
  }),
  webhookPause: ({ description, seq, status, error, ...pause }) => ({
    ...pause,
    description: description ?? '',
    seq: BigInt(seq),
    status: status ?? 0,
    error: error ?? '',
  }),
};

/** A hundredth of an hour is 36 seconds. */
function renderHours(hours: number): MessageInitShape<typeof DurationSchema> {
  return { seconds: BigInt(Math.min(Math.round(hours * 3600), DURATION_SECONDS_MAX)) };
}

/** What a rotation has replaced: the id, and when it retires. */
function renderReplaced({
  replacedId,
  replacedRetiresAt,
}: Pick<ApiKeyChange, 'replacedId' | 'replacedRetiresAt'>) {
  return {
    replacedId: replacedId ?? '',
    ...(replacedRetiresAt && { replacedRetireTime: timestampFromDate(replacedRetiresAt) }),
  };
}

/** The name of the type in the contract. It does not compile without one for each type. */
function typeOf(type: PublicEventType): Type {
  return Type[type.toUpperCase() as Uppercase<PublicEventType>];
}

/** The table maps each subject to its renderer. */
function renderSubject(about: keyof PublicSubjects, subject: unknown, seq = 0n): Kind {
  const render = SUBJECT_RENDERERS[about] as (subject: unknown, seq: bigint) => unknown;
  return { case: about, value: render(subject, seq) } as Kind;
}

/** An event type that a newer version has stored is rendered as UNSPECIFIED. */
export function renderEvent(event: Event): WireEvent {
  const about = subjectOf(event.type);
  return {
    seq: event.seq,
    time: timestampFromDate(event.at),
    roomUid: event.roomUid ?? '',
    kind: about ? renderSubject(about, event.subject, event.seq) : { case: undefined },
    type: about ? typeOf(event.type) : Type.UNSPECIFIED,
  };
}

function renderResource({ of, subject }: StreamItem & { readonly type: 'snapshot' }): WireEvent {
  const roomUid = of === 'room' ? subject.uid : subject.roomUid;
  return { type: Type.SNAPSHOT, roomUid, kind: renderSubject(of, subject) };
}
