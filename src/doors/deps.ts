/**
 * All dependencies of the operations, as the doors and `run` hold them. Features declare the part they need.
 */
import type { KeyDeps } from '../access/keys/authenticate.ts';
import type { KeyRate } from '../access/keys/key-rate.ts';
import type { InvitationLimit } from '../access/members/invitation-limit.ts';
import type { OidcDeps } from '../access/oidc/log-in-member.ts';
import type { SignupDeps } from '../access/signup/sign-up.ts';
import type { SigningKeyDeps } from '../access/tokens/rotate-signing-keys.ts';
import type { OnceDeps } from '../base/idempotency/once.ts';
import type { ConnectionLimit } from '../base/limits/connection-limit.ts';
import type { CallQueue } from '../base/tenants/call-queue.ts';
import type { HeavyReads } from '../base/tenants/heavy-reads.ts';
import type { JoinDeps } from '../control/admission/join-room.ts';
import type { RevocationFeed } from '../control/revocations/revocation-feed.ts';
import type { Sightings } from '../control/rooms/sightings.ts';
import type { StreamDeps } from '../control/streams/follow-events.ts';
import type { EventWaker } from '../events/event-waker.ts';
import type { PaymentsDeps } from '../money/payments/provider.ts';
import type { ArchiveDeps } from '../money/records/archive-records.ts';
import type { StatementDeps } from '../money/statements/build-statement.ts';
import type { ChargeDeps } from '../money/usage/charge-usage.ts';
import type { ConsoleMailRows } from '../outward/mail/console-mail-rows.ts';
import type { MailDeps } from '../outward/mail/mail-deps.ts';
import type { ResendLimit } from '../outward/webhooks/resend-limit.ts';
import type { WebhookDeps } from '../outward/webhooks/send-message.ts';
import type { WebhookSender } from '../outward/webhooks/send-request.ts';
import type { Metrics } from './metrics.ts';

export interface Deps
  extends OnceDeps,
    ChargeDeps,
    KeyDeps,
    PaymentsDeps,
    StatementDeps,
    SigningKeyDeps,
    SignupDeps,
    OidcDeps,
    JoinDeps,
    StreamDeps,
    MailDeps,
    WebhookDeps {
  readonly metrics: Metrics;
  readonly invitationLimit: InvitationLimit;
  readonly resendLimit: ResendLimit;
  readonly connections: ConnectionLimit;
  readonly keyRate: KeyRate;
  /** Calls that share their statements, and so hold no connection, wait here. */
  readonly gatheredCalls: CallQueue;
  /** Calls that read thousands of rows wait here. */
  readonly heavyReads: HeavyReads;
  /** Calls to the payment provider wait here, so that a slow provider delays no others. */
  readonly providerCalls: CallQueue;
  /** Calls that wait for a webhook of a tenant, which may be slow, wait here. */
  readonly webhookCalls: CallQueue;
  readonly webhookSender: WebhookSender;
  readonly events: EventWaker;
  /** What relays must refuse from now on. */
  readonly revocations: RevocationFeed;
  /** What usage records tell about participants. */
  readonly sightings: Sightings;
  readonly consoleMails: ConsoleMailRows;
  readonly config: ChargeDeps['config'] &
    KeyDeps['config'] &
    PaymentsDeps['config'] &
    StatementDeps['config'] &
    SignupDeps['config'] &
    JoinDeps['config'] &
    MailDeps['config'] &
    ArchiveDeps['config'] &
    WebhookDeps['config'] & {
      /** How long events are kept, and attempts to deliver them. */
      readonly eventDays: number;
      readonly mailDays: number;
      readonly auditAddressDays: number;
      /** How long browsers ask for TLS alone; 0: they are not told to. */
      readonly strictTransportSeconds: number;
      /** The port of the control plane, as it was set. */
      readonly grpcPort: number;
      /** The certificate of the control plane; `undefined`: it has none, or a proxy has it. */
      readonly tls: object | undefined;
      /** Agents may call tools at `/mcp`. */
      readonly mcp: boolean;
      /** Whether payments are those of the sandbox, for development. Never in production. */
      readonly hasSandbox: boolean;
    };
}
