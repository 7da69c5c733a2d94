/** Reporting usage: part of `@boxoffice/sdk/relay`. */
export type { Clock } from './clock.ts';
export { UsageError, type UsageErrorCode } from './errors.ts';
export type { Admitted, RetryReason, UsageEvent } from './events.ts';
export type { KeySource } from './key.ts';
export { openUsageReporter, type UsageReporter, type UsageReporterOptions } from './reporter.ts';
export type { SessionStart, UsageSession } from './session.ts';
export { type ParticipantUsage, type Role, type Tier, tierOf } from './usage-record.ts';
