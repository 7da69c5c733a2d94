/** Everything that operations need from outside, as the doors and `run` hold it. Features name their own part. */
import type { KeyDeps } from '../access/keys/authenticate.ts';
import type { SignupDeps } from '../access/signup/sign-up.ts';
import type { TokenDeps } from '../access/tokens/mint-token.ts';
import type { SigningKeyDeps } from '../access/tokens/turn-signing-keys.ts';
import type { ConfusableUsernames } from '../access/usernames/username.ts';
import type { OnceDeps } from '../base/idempotency/once.ts';
import type { JoinLimit } from '../control/admission/join-limit.ts';
import type { RevocationFeed } from '../control/revocations/revocation-feed.ts';
import type { Sightings } from '../control/rooms/sightings.ts';
import type { StreamLimit } from '../control/streams/stream-limit.ts';
import type { EventWaker } from '../events/event-waker.ts';
import type { PaymentsDeps } from '../money/payments/provider.ts';
import type { ChargeDeps } from '../money/usage/charge-usage.ts';

export interface Deps
  extends OnceDeps,
    ChargeDeps,
    PaymentsDeps,
    KeyDeps,
    SigningKeyDeps,
    TokenDeps,
    SignupDeps {
  readonly joinLimit: JoinLimit;
  /** Wakes whoever waits for events. Losing a wake-up delays, and loses nothing. */
  readonly events: EventWaker;
  /** How many streams of events may be open. */
  readonly streams: StreamLimit;
  /** What relays must refuse from now on. */
  readonly revocations: RevocationFeed;
  /** What usage records tell of participants. */
  readonly sightings: Sightings;
  readonly config: ChargeDeps['config'] &
    KeyDeps['config'] &
    PaymentsDeps['config'] &
    SignupDeps['config'] &
    TokenDeps['config'] & {
      readonly joinCreatesRooms: boolean;
      readonly confusableUsernames: ConfusableUsernames;
    };
}
