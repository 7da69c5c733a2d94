/** What operations need from outside; the first argument of each of them. */
import type { Logger } from 'pino';
import type { ConfusableUsernames } from './config.ts';
import type { Pool } from './db/pool.ts';
import type { EventWaker } from './events/event-waker.ts';
import type { StreamLimit } from './events/stream-limit.ts';
import type { FailedKeys } from './keys/failed-keys.ts';
import type { KeyLookups } from './keys/key-lookups.ts';
import type { SecretBox } from './lib/secret-box.ts';
import type { Metrics } from './ops/metrics.ts';
import type { Sightings } from './participants/sightings.ts';
import type { Provider } from './payments/provider.ts';
import type { RateCards } from './pricing/rate-cards.ts';
import type { Rounding } from './pricing/usage-price.ts';
import type { RevocationFeed } from './revocations/revocation-feed.ts';
import type { JoinLimit } from './rooms/join-limit.ts';
import type { SignupLimit } from './tenants/signup-limit.ts';
import type { Signer } from './tokens/signer.ts';
import type { ChargeQueue } from './usage/charge-queue.ts';

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
