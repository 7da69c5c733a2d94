/** For back ends, in Node: rooms, moderation, tokens, keys and billing through one client. */
export type {
  Billing,
  ListedEntry,
  ListedStatement,
  ListLedgerRequest,
  ListPaymentsRequest,
  Payment,
  Receipt,
  SignedStatement,
  StatementOptions,
} from './billing.ts';
export { Boxoffice, type BoxofficeOptions } from './boxoffice.ts';
export type { CallOptions, MutationOptions } from './calls.ts';
export type { WatchedEvent, WatchOptions } from './control.ts';
export type * from './control-types.ts';
export type { CreatedCredential, DeviceCredentials, RotatedCredential } from './device-credentials.ts';
export { type ErrorKind, type ErrorReason, REASONS } from './error-kinds.ts';
export { BoxofficeError, type FieldViolation } from './errors.ts';
export type { KeyId, KeyRevocation, Keys } from './keys.ts';
export type { Listing, Page } from './listing.ts';
export type { Banned, ClosedRoom, Moderated, Moderation } from './moderation.ts';
export type { Erasure, Participants } from './participants.ts';
export type { Rates, SimulateRequest, Simulation } from './rates.ts';
export type { PageRequest } from './rest.ts';
export type { Amount, ApiKey, ExactAmount, LedgerEntry, RateCard, Statement, Tenant } from './rest-types.ts';
export type { ListedEvents, Rooms } from './rooms.ts';
export { type SignedUp, type SignUpOptions, type SignUpRequest, signUp } from './sign-up.ts';
export type { Tokens } from './tokens.ts';
export type {
  ChargedRecord,
  ExplainedUsage,
  ListUsageRecordsRequest,
  LookedUpRecord,
  SummarizeUsageRequest,
  Usage,
  UsageConflict,
  UsageRecord,
  UsageSummary,
} from './usage.ts';
export type { NewWatchdog, WatchdogChanges, Watchdogs } from './watchdogs.ts';
