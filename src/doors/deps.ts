/** What operations need from outside; the first argument of each of them. */
import type { Logger } from 'pino';
import type { FailedKeys } from '../access/keys/failed-keys.ts';
import type { KeyLookups } from '../access/keys/key-lookups.ts';
import type { SignupLimit } from '../access/signup/signup-limit.ts';
import type { Signer } from '../access/tokens/signer.ts';
import type { ConfusableUsernames } from '../access/usernames/username.ts';
import type { Pool } from '../base/db/pool.ts';
import type { SecretBox } from '../base/lib/secret-box.ts';
import type { Metrics } from '../base/telemetry/metrics.ts';
import type { JoinLimit } from '../control/admission/join-limit.ts';
import type { RevocationFeed } from '../control/revocations/revocation-feed.ts';
import type { Sightings } from '../control/rooms/sightings.ts';
import type { StreamLimit } from '../control/streams/stream-limit.ts';
import type { EventWaker } from '../events/event-waker.ts';
import type { Provider } from '../money/payments/provider.ts';
import type { RateCards } from '../money/pricing/rate-cards.ts';
import type { Rounding } from '../money/pricing/usage-price.ts';
import type { ChargeQueue } from '../money/usage/charge-queue.ts';

export interface Deps {
  readonly db: Pool;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly rates: RateCards;
  readonly charges: ChargeQueue;
  /** `undefined`: payments are not configured on this deployment. */
  readonly provider: Provider | undefined;
  readonly keyLookups: KeyLookups;
  readonly failedKeys: FailedKeys;
  readonly signupLimit: SignupLimit;
  readonly joinLimit: JoinLimit;
  readonly signer: Signer;
  /** Encrypts what must not stand in the database in plain. */
  readonly box: SecretBox;
  /** Wakes whoever waits for events. Losing a wake-up delays, and loses nothing. */
  readonly events: EventWaker;
  /** How many streams of events may be open. */
  readonly streams: StreamLimit;
  /** What relays must refuse from now on. */
  readonly revocations: RevocationFeed;
  /** What usage records tell of participants. */
  readonly sightings: Sightings;
  /** Tells the worker of this process that an automatic top-up may be due. Losing it loses nothing. */
  readonly wakeTopUps: () => void;
  readonly config: {
    readonly keyPrefix: string;
    readonly publicUrl: string;
    readonly signupCheckoutCents: number;
    readonly billingRounding: Rounding;
    readonly joinCreatesRooms: boolean;
    readonly confusableUsernames: ConfusableUsernames;
  };
}
