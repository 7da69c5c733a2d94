/** Renders events and event streams, and their resume tokens. */
import { type EventSchema, Event_Type as Type } from '@boxoffice/contract/event';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { type DurationSchema, timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { DeviceCredentialChange } from '../../access/devices/device-credential-events.ts';
import type { ApiKeyChange, KeyRetirement } from '../../access/keys/key-events.ts';
import { invalidField } from '../../base/failure.ts';
import type { Participant } from '../../control/rooms/participant.ts';
import type { Room } from '../../control/rooms/room.ts';
import type { Event, StreamItem } from '../../control/streams/stream-event.ts';
import type { Watchdog } from '../../control/watchdogs/watchdog.ts';
import type { Place } from '../../events/event.ts';
import type { BalanceAlert, RunwayAlert } from '../../money/alerts/alert-events.ts';
import type { CreditChange } from '../../money/ledger/credit-events.ts';
import type { PaymentDispute } from '../../money/reversals/reversal-events.ts';
import type { TopUp } from '../../money/top-ups/top-up-events.ts';
import type { ConflictingDuplicates } from '../../money/usage/conflict-events.ts';
import type { PublicEventType, PublicHappening } from '../../outward/events/event-catalogue.ts';
import type { WebhookPause } from '../../outward/events/webhook-pause.ts';
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
type SubjectOf<T extends PublicEventType> = Extract<PublicHappening, { readonly type: T }>['subject'];

/** The renderer of each event type. */
export const EVENT_RENDERERS: {
  readonly [T in PublicEventType]: readonly [Type, (subject: SubjectOf<T>, seq: bigint) => Kind];
} = {
  room_created: [Type.ROOM_CREATED, room],
  room_updated: [Type.ROOM_UPDATED, room],
  room_ended: [Type.ROOM_ENDED, room],
  participant_entered: [Type.PARTICIPANT_ENTERED, participant],
  participant_updated: [Type.PARTICIPANT_UPDATED, participant],
  participant_left: [Type.PARTICIPANT_LEFT, participant],
  moderation: [
    Type.MODERATION,
    (subject, id) => ({ case: 'moderation', value: renderModerationEvent({ ...subject, id }) }),
  ],
  watchdog_warned: [Type.WATCHDOG_WARNED, watchdog],
  watchdog_rearmed: [Type.WATCHDOG_REARMED, watchdog],
  watchdog_fired: [Type.WATCHDOG_FIRED, watchdog],
  credit_spent: [Type.CREDIT_SPENT, credit],
  credit_restored: [Type.CREDIT_RESTORED, credit],
  balance_low: [Type.BALANCE_LOW, balanceAlert],
  balance_recovered: [Type.BALANCE_RECOVERED, balanceAlert],
  runway_low: [Type.RUNWAY_LOW, runwayAlert],
  runway_recovered: [Type.RUNWAY_RECOVERED, runwayAlert],
  top_up_succeeded: [Type.TOP_UP_SUCCEEDED, topUp],
  top_up_failed: [Type.TOP_UP_FAILED, topUp],
  payment_reversed: [
    Type.PAYMENT_REVERSED,
    ({ amount, ...reversal }) => ({
      case: 'paymentReversal',
      value: { ...reversal, amountMicros: BigInt(amount) },
    }),
  ],
  payment_disputed: [Type.PAYMENT_DISPUTED, paymentDispute],
  payment_dispute_closed: [Type.PAYMENT_DISPUTE_CLOSED, (value) => ({ case: 'paymentDisputeEnd', value })],
  card_expiring: [Type.CARD_EXPIRING, (value) => ({ case: 'cardExpiry', value })],
  conflicting_duplicates: [Type.CONFLICTING_DUPLICATES, conflictingDuplicates],
  tenant_status_changed: [Type.TENANT_STATUS_CHANGED, (value) => ({ case: 'tenantStatus', value })],
  key_created: [Type.KEY_CREATED, apiKey],
  key_rotated: [Type.KEY_ROTATED, apiKey],
  key_revoked: [Type.KEY_REVOKED, apiKey],
  key_retiring: [Type.KEY_RETIRING, keyRetirement],
  device_credential_created: [Type.DEVICE_CREDENTIAL_CREATED, deviceCredential],
  device_credential_rotated: [Type.DEVICE_CREDENTIAL_ROTATED, deviceCredential],
  device_credential_revoked: [Type.DEVICE_CREDENTIAL_REVOKED, deviceCredential],
  webhook_paused: [Type.WEBHOOK_PAUSED, webhookPause],
};

function room(subject: Room): Kind {
  return { case: 'room', value: renderRoom(subject) };
}

function participant(subject: Participant): Kind {
  return { case: 'participant', value: renderParticipant(subject) };
}

function watchdog(subject: Watchdog): Kind {
  return { case: 'watchdog', value: renderWatchdog(subject) };
}

function credit({ balance, admitted }: CreditChange): Kind {
  return { case: 'credit', value: { balanceMicros: BigInt(balance), admitted } };
}

function balanceAlert({ balance, below }: BalanceAlert): Kind {
  return { case: 'balanceAlert', value: { balanceMicros: BigInt(balance), belowMicros: BigInt(below) } };
}

function runwayAlert({ balance, belowHours, burnPerHour, runwayHours, emptyAt }: RunwayAlert): Kind {
  return {
    case: 'runwayAlert',
    value: {
      balanceMicros: BigInt(balance),
      below: renderHours(belowHours),
      burnPerHourMicros: BigInt(burnPerHour),
      ...(runwayHours !== null && { runway: renderHours(runwayHours) }),
      ...(emptyAt && { emptyTime: timestampFromDate(emptyAt) }),
    },
  };
}

/** A hundredth of an hour is 36 seconds. */
function renderHours(hours: number): MessageInitShape<typeof DurationSchema> {
  return { seconds: BigInt(Math.min(Math.round(hours * 3600), DURATION_SECONDS_MAX)) };
}

function topUp({ automatic, amount, paymentId, error }: TopUp): Kind {
  const amountMicros = BigInt(amount);
  return {
    case: 'topUp',
    value: { automatic, amountMicros, paymentId: paymentId ?? '', error: error ?? '' },
  };
}

function paymentDispute({ amount, reason, ...dispute }: PaymentDispute): Kind {
  return {
    case: 'paymentDispute',
    value: { ...dispute, amountMicros: BigInt(amount), reason: reason ?? '' },
  };
}

function conflictingDuplicates({ count, ids, firstAt }: ConflictingDuplicates): Kind {
  const value = { count: BigInt(count), ids: [...ids], firstTime: timestampFromDate(firstAt) };
  return { case: 'conflictingDuplicates', value };
}

function apiKey({ key, ...replaced }: ApiKeyChange): Kind {
  return { case: 'apiKey', value: { key: renderApiKey(key), ...renderReplaced(replaced) } };
}

function keyRetirement({ keyId, name, kind, retiresAt }: KeyRetirement): Kind {
  return { case: 'keyRetirement', value: { keyId, name, kind, retireTime: timestampFromDate(retiresAt) } };
}

function deviceCredential({ credential, ...replaced }: DeviceCredentialChange): Kind {
  const value = { credential: renderDeviceCredential(credential), ...renderReplaced(replaced) };
  return { case: 'deviceCredential', value };
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

function webhookPause({ description, seq, status, error, ...pause }: WebhookPause): Kind {
  return {
    case: 'webhookPause',
    value: {
      ...pause,
      description: description ?? '',
      seq: BigInt(seq),
      status: status ?? 0,
      error: error ?? '',
    },
  };
}

/** An event type that a newer version has stored is rendered as UNSPECIFIED. */
export function renderEvent(event: Event): WireEvent {
  const [type, render] = EVENT_RENDERERS[event.type as PublicEventType] ?? [
    Type.UNSPECIFIED,
    () => ({ case: undefined }),
  ];
  return {
    seq: event.seq,
    time: timestampFromDate(event.at),
    roomUid: event.roomUid ?? '',
    // The table maps each type to the renderer of its own subject.
    kind: (render as (subject: unknown, seq: bigint) => Kind)(event.subject, event.seq),
    type,
  };
}

function renderResource(item: StreamItem & { readonly type: 'snapshot' }): WireEvent {
  const type = Type.SNAPSHOT;
  switch (item.of) {
    case 'room':
      return { type, roomUid: item.subject.uid, kind: { case: 'room', value: renderRoom(item.subject) } };
    case 'participant': {
      const value = renderParticipant(item.subject);
      return { type, roomUid: item.subject.roomUid, kind: { case: 'participant', value } };
    }
    case 'watchdog': {
      const value = renderWatchdog(item.subject);
      return { type, roomUid: item.subject.roomUid, kind: { case: 'watchdog', value } };
    }
  }
}
