/** Events as streams send them, with the subject of each type. The wing `outward` adds its own types. */

import type { DeviceCredentialChange } from '../../access/devices/device-credential-events.ts';
import type { ApiKeyChange, KeyRetirement } from '../../access/keys/key-events.ts';
import type { Place } from '../../events/event.ts';
import type { BalanceAlert, RunwayAlert } from '../../money/alerts/alert-events.ts';
import type { CardExpiry } from '../../money/cards/card-events.ts';
import type { CreditChange } from '../../money/ledger/credit-events.ts';
import type {
  PaymentDispute,
  PaymentDisputeEnd,
  PaymentReversal,
} from '../../money/reversals/reversal-events.ts';
import type { StatusChange } from '../../money/tenant-status/status-events.ts';
import type { TopUp } from '../../money/top-ups/top-up-events.ts';
import type { ConflictingDuplicates } from '../../money/usage/conflict-events.ts';
import type { ModerationEvent } from '../moderation/moderation-event.ts';
import type { Participant } from '../rooms/participant.ts';
import type { Room } from '../rooms/room.ts';
import type { Watchdog } from '../watchdogs/watchdog.ts';
import type { WatchdogEventType } from '../watchdogs/watchdog-events.ts';

/** The subject of each type of event. */
export type Happening =
  | { readonly type: 'room_created' | 'room_updated' | 'room_ended'; readonly subject: Room }
  | {
      readonly type: 'participant_entered' | 'participant_updated' | 'participant_left';
      readonly subject: Participant;
    }
  // Its id is the number of the event.
  | { readonly type: 'moderation'; readonly subject: Omit<ModerationEvent, 'id'> }
  | { readonly type: WatchdogEventType; readonly subject: Watchdog }
  | { readonly type: 'credit_spent' | 'credit_restored'; readonly subject: CreditChange }
  | { readonly type: 'balance_low' | 'balance_recovered'; readonly subject: BalanceAlert }
  | { readonly type: 'runway_low' | 'runway_recovered'; readonly subject: RunwayAlert }
  | { readonly type: 'top_up_succeeded' | 'top_up_failed'; readonly subject: TopUp }
  | { readonly type: 'payment_reversed'; readonly subject: PaymentReversal }
  | { readonly type: 'payment_disputed'; readonly subject: PaymentDispute }
  | { readonly type: 'payment_dispute_closed'; readonly subject: PaymentDisputeEnd }
  | { readonly type: 'card_expiring'; readonly subject: CardExpiry }
  | { readonly type: 'conflicting_duplicates'; readonly subject: ConflictingDuplicates }
  | { readonly type: 'tenant_status_changed'; readonly subject: StatusChange }
  | { readonly type: 'key_created' | 'key_rotated' | 'key_revoked'; readonly subject: ApiKeyChange }
  | { readonly type: 'key_retiring'; readonly subject: KeyRetirement }
  | {
      readonly type: 'device_credential_created' | 'device_credential_rotated' | 'device_credential_revoked';
      readonly subject: DeviceCredentialChange;
    };

export type EventType = Happening['type'];

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
