/** For back ends, in Node: rooms, moderation, tokens, keys and billing through one client. */
export type { Alerts, AlertThreshold, NewThreshold } from './alerts.ts';
export type { Audit, AuditEntry, ListAuditRequest } from './audit.ts';
export type {
  Billing,
  BillingDetails,
  Grant,
  ListedEntry,
  ListedStatement,
  ListGrantsRequest,
  ListLedgerRequest,
  ListPaymentsRequest,
  NewBillingDetails,
  Payment,
  Receipt,
  Runway,
  RunwayRequest,
  SignedStatement,
  StatementOptions,
  TimeZone,
} from './billing.ts';
export { Boxoffice, type BoxofficeOptions } from './boxoffice.ts';
export type { Budget, Budgets, WantedBudget } from './budgets.ts';
export type { CallOptions, MutationOptions } from './calls.ts';
export type { WatchedEvent, WatchOptions } from './control.ts';
export type * from './control-types.ts';
export type { CreatedCredential, DeviceCredentials, RotatedCredential } from './device-credentials.ts';
export { type ErrorKind, type ErrorReason, REASONS } from './error-kinds.ts';
export { BoxofficeError, ClientClosed, type FieldViolation } from './errors.ts';
export type * from './event-types.ts';
export type { KeyId, KeyRevocation, Keys } from './keys.ts';
export type { Listing, Page } from './listing.ts';
export type { Mail, MailSettings, NewMailSettings } from './mail.ts';
export type { Banned, ClosedRoom, Moderated, Moderation } from './moderation.ts';
export type { Erasure, Participants } from './participants.ts';
export type { Rates, SimulateRequest, Simulation } from './rates.ts';
export type { PageRequest } from './rest.ts';
export type {
  Amount,
  ApiKey,
  BasicAuth,
  DeadLetter,
  ExactAmount,
  LedgerEntry,
  LedgerKind,
  RateCard,
  Statement,
  Tenant,
  UsageSums,
  Webhook,
  WebhookDelivery,
  WebhookEventType,
  WebhookHeader,
} from './rest-types.ts';
export type { ListedEvents, Rooms } from './rooms.ts';
export { type SignedUp, type SignUpOptions, type SignUpRequest, signUp } from './sign-up.ts';
export type { Tokens } from './tokens.ts';
export type {
  ChargedRecord,
  ExplainedUsage,
  ListSessionsRequest,
  ListUsageRecordsRequest,
  LookedUpRecord,
  RoomCost,
  Session,
  ShownSession,
  SummarizeUsageRequest,
  Usage,
  UsageConflict,
  UsageRecord,
  UsageSummary,
} from './usage.ts';
export {
  STATEMENT_REFUSALS,
  type StatementKeys,
  type StatementRefusal,
  StatementRefused,
  verifyStatement,
} from './verify-statement.ts';
export {
  type VerifyWebhookOptions,
  verifyWebhook,
  verifyWebhookEvents,
  verifyWebhookSignature,
  WEBHOOK_REFUSALS,
  type WebhookHeaders,
  type WebhookRefusal,
  WebhookRefused,
} from './verify-webhook.ts';
export type { NewWatchdog, WatchdogChanges, Watchdogs } from './watchdogs.ts';
export type { PulledEvent, TypedEvent, WebhookEvent } from './webhook-event.ts';
export type {
  CreatedWebhook,
  FollowEventsRequest,
  ListDeliveriesRequest,
  NewWebhook,
  PullEventsRequest,
  PulledEvents,
  ResentEvents,
  RotatedWebhook,
  SecretRotation,
  WebhookChanges,
  Webhooks,
} from './webhooks.ts';
