/**
 * The types of events that tenants see, with what each tells. A type that is not listed is left out everywhere.
 */
import { EVENTS_OF, type Happening, type Subjects } from '../../control/streams/stream-event.ts';

const WEBHOOK_EVENTS = {
  webhook_paused: 'A webhook was paused, because its deliveries failed.',
} as const;

/** The subject of `webhook_paused`. The address may hold a secret of its receiver, so only its host is told. */
export interface WebhookPause {
  readonly webhookId: string;
  readonly host: string;
  readonly description: string | null;
  readonly reason: 'failing' | 'gone';
  /** The number of the event that could not be delivered, and of the attempts. */
  readonly seq: number;
  readonly attempts: number;
  /** What the last attempt came to: the status of the answer, or why there was none. */
  readonly status: number | null;
  readonly error: string | null;
}

/** With those of this wing. */
export interface PublicSubjects extends Subjects {
  readonly webhookPause: WebhookPause;
}

export const PUBLIC_EVENTS_OF = {
  ...EVENTS_OF,
  webhookPause: WEBHOOK_EVENTS,
} as const satisfies { readonly [S in keyof PublicSubjects]: Readonly<Record<string, string>> };

export type PublicHappening =
  | Happening
  | { readonly type: keyof typeof WEBHOOK_EVENTS; readonly subject: WebhookPause };

export type PublicEventType = PublicHappening['type'];

/** One line each, for the documentation. */
export const PUBLIC_EVENTS: Readonly<Record<PublicEventType, string>> = Object.assign(
  {},
  ...Object.values(PUBLIC_EVENTS_OF),
);

export const PUBLIC_EVENT_TYPES = Object.keys(PUBLIC_EVENTS) as PublicEventType[];

const SUBJECTS = new Map(
  Object.entries(PUBLIC_EVENTS_OF).flatMap(([subject, types]) =>
    Object.keys(types).map((type) => [type, subject as keyof PublicSubjects]),
  ),
);

/** What events of a type are about; `undefined`: the type is not public. */
export function subjectOf(type: string): keyof PublicSubjects | undefined {
  return SUBJECTS.get(type);
}

/**
 * The version of the schema of each subject. It rises by one with each release that adds members to it, or words to one of
 * its lists. Nothing else may change: events that differ otherwise get a new type, beside the old one.
 */
const SCHEMA_VERSIONS = {
  room: 1,
  participant: 1,
  moderation: 1,
  watchdog: 1,
  credit: 1,
  balanceAlert: 1,
  runwayAlert: 1,
  budgetAlert: 1,
  topUp: 1,
  paymentReversal: 1,
  paymentDispute: 1,
  paymentDisputeEnd: 1,
  cardExpiry: 1,
  grantExpiry: 1,
  conflictingDuplicates: 1,
  readyStatement: 1,
  tenantStatus: 1,
  apiKey: 1,
  keyRetirement: 1,
  deviceCredential: 1,
  webhookPause: 1,
} as const satisfies { readonly [S in keyof PublicSubjects]: number };

/** The test event has no subject. */
export function schemaVersionOf(type: string): number {
  const about = subjectOf(type);
  return about ? SCHEMA_VERSIONS[about] : 1;
}

/** Sent on request to try out a webhook. It is not in the log, so nothing can ask for it. */
export const TEST_EVENT_TYPE = 'webhook_test';

/** The types that were asked for; none means all. A type that is no longer public is left out. */
export function wantedTypes(asked: readonly string[]): readonly string[] {
  return asked.length === 0 ? PUBLIC_EVENT_TYPES : asked.filter((type) => type in PUBLIC_EVENTS);
}
