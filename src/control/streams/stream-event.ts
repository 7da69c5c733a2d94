/** Events as streams send them, with the subject of each type. The wing `outward` adds its own types. */
import {
  DEVICE_CREDENTIAL_EVENTS,
  type DeviceCredentialChange,
} from '../../access/devices/device-credential-events.ts';
import {
  type ApiKeyChange,
  KEY_EVENTS,
  KEY_RETIREMENT_EVENTS,
  type KeyRetirement,
} from '../../access/keys/key-events.ts';
import type { Place } from '../../events/event.ts';
import {
  BALANCE_EVENTS,
  type BalanceAlert,
  RUNWAY_EVENTS,
  type RunwayAlert,
} from '../../money/alerts/alert-events.ts';
import { CARD_EVENTS, type CardExpiry } from '../../money/cards/card-events.ts';
import { GRANT_EVENTS, type GrantExpiry } from '../../money/grants/grant-events.ts';
import { CREDIT_EVENTS, type CreditChange } from '../../money/ledger/credit-events.ts';
import {
  DISPUTE_END_EVENTS,
  DISPUTE_EVENTS,
  type PaymentDispute,
  type PaymentDisputeEnd,
  type PaymentReversal,
  REVERSAL_EVENTS,
} from '../../money/reversals/reversal-events.ts';
import { type ReadyStatement, STATEMENT_EVENTS } from '../../money/statements/statement-events.ts';
import { STATUS_EVENTS, type StatusChange } from '../../money/tenant-status/status-events.ts';
import { TOP_UP_EVENTS, type TopUp } from '../../money/top-ups/top-up-events.ts';
import { CONFLICT_EVENTS, type ConflictingDuplicates } from '../../money/usage/conflict-events.ts';
import { BUDGET_EVENTS, type BudgetAlert } from '../budgets/budget-events.ts';
import { MODERATION_EVENTS, type ModerationEvent } from '../moderation/moderation-event.ts';
import type { Participant } from '../rooms/participant.ts';
import type { Room } from '../rooms/room.ts';
import { PARTICIPANT_EVENTS, ROOM_EVENTS } from '../rooms/room-events.ts';
import type { Watchdog } from '../watchdogs/watchdog.ts';
import { WATCHDOG_EVENTS } from '../watchdogs/watchdog-events.ts';

/** What events are about. The names are those of the fields of `Event` in `event.proto`. */
export interface Subjects {
  readonly room: Room;
  readonly participant: Participant;
  /** Its id is the number of the event. */
  readonly moderation: Omit<ModerationEvent, 'id'>;
  readonly watchdog: Watchdog;
  readonly credit: CreditChange;
  readonly balanceAlert: BalanceAlert;
  readonly runwayAlert: RunwayAlert;
  readonly budgetAlert: BudgetAlert;
  readonly topUp: TopUp;
  readonly paymentReversal: PaymentReversal;
  readonly paymentDispute: PaymentDispute;
  readonly paymentDisputeEnd: PaymentDisputeEnd;
  readonly cardExpiry: CardExpiry;
  readonly grantExpiry: GrantExpiry;
  readonly conflictingDuplicates: ConflictingDuplicates;
  readonly readyStatement: ReadyStatement;
  readonly tenantStatus: StatusChange;
  readonly apiKey: ApiKeyChange;
  readonly keyRetirement: KeyRetirement;
  readonly deviceCredential: DeviceCredentialChange;
}

/** The types of the events about each subject, with what they tell. */
export const EVENTS_OF = {
  room: ROOM_EVENTS,
  participant: PARTICIPANT_EVENTS,
  moderation: MODERATION_EVENTS,
  watchdog: WATCHDOG_EVENTS,
  credit: CREDIT_EVENTS,
  balanceAlert: BALANCE_EVENTS,
  runwayAlert: RUNWAY_EVENTS,
  budgetAlert: BUDGET_EVENTS,
  topUp: TOP_UP_EVENTS,
  paymentReversal: REVERSAL_EVENTS,
  paymentDispute: DISPUTE_EVENTS,
  paymentDisputeEnd: DISPUTE_END_EVENTS,
  cardExpiry: CARD_EVENTS,
  grantExpiry: GRANT_EVENTS,
  conflictingDuplicates: CONFLICT_EVENTS,
  readyStatement: STATEMENT_EVENTS,
  tenantStatus: STATUS_EVENTS,
  apiKey: KEY_EVENTS,
  keyRetirement: KEY_RETIREMENT_EVENTS,
  deviceCredential: DEVICE_CREDENTIAL_EVENTS,
} as const satisfies { readonly [S in keyof Subjects]: Readonly<Record<string, string>> };

/** A type of event, with its subject. */
export type Happening = {
  [S in keyof Subjects]: { readonly type: keyof (typeof EVENTS_OF)[S]; readonly subject: Subjects[S] };
}[keyof Subjects];

export type Event = Happening & {
  readonly seq: bigint;
  readonly at: Date;
  /** `null`: the whole tenant. */
  readonly roomUid: string | null;
};

/** Which events a client wants. */
export interface EventFilter {
  /** Only those of rooms of this name. */
  readonly room: string | undefined;
  /** `rooms`: whatever happens in rooms, which is all but money, keys and the tenant itself. */
  readonly only?: 'participants' | 'rooms' | undefined;
}

/** An item of an event stream. */
export type StreamItem =
  | { readonly type: 'event'; readonly event: Event }
  /** The current state of a resource, as a part of a snapshot. */
  | ({ readonly type: 'snapshot' } & (
      | { readonly of: 'room'; readonly subject: Room }
      | { readonly of: 'participant'; readonly subject: Participant }
      | { readonly of: 'watchdog'; readonly subject: Watchdog }
    ))
  /** Everything up to here has been sent. */
  | ({ readonly type: 'bookmark' } & Place)
  /** The client must discard its state. */
  | { readonly type: 'reset' };
