/**
 * What the SDKs for Go and Rust call the types of the REST interface, where it cannot be derived from its description.
 *
 * A place is an operation, and the names of the members on the way into its answer or body: `GET /v1/billing recent`. Lists
 * are passed through. Keys of the tables are names of types in Rust; Go has the same unless `go` says otherwise.
 */

/** A type of answers. */
interface AnswerName {
  /** Several: the type has the members of all of them. */
  readonly at: string | readonly string[];
  readonly go?: string;
  /** Without it, the description of the first place. */
  readonly doc?: string;
  /** What is said of the members that only some of the places have. */
  readonly partly?: string;
}

export const ANSWERS: Readonly<Record<string, AnswerName>> = {
  Tenant: { at: 'PUT /v1/billing/auto-top-up' },
  AutoTopUp: { at: 'PUT /v1/billing/auto-top-up auto_top_up' },
  LedgerEntry: {
    at: ['GET /v1/ledger entries', 'GET /v1/billing recent'],
    partly: 'Only the list of the ledger has it',
  },
  BillingState: {
    at: 'GET /v1/billing',
    go: 'Account',
    doc: 'The tenant, its balance and its newest ledger entries',
  },
  Checkout: {
    at: 'POST /v1/billing/checkout',
    go: 'CheckoutPage',
    doc: 'A page on which credit is paid for',
  },
  Portal: { at: 'POST /v1/billing/portal', go: 'PortalPage', doc: 'The portal for receipts and saved cards' },
  Runway: {
    at: 'GET /v1/billing/runway',
    doc: 'How long the credit lasts, and which rooms use most of it',
  },
  Burn: { at: 'GET /v1/billing/runway burn' },
  RunwayRooms: {
    at: 'GET /v1/billing/runway rooms',
    go: 'ExpensiveRooms',
    doc: 'The rooms that cost most in a window',
  },
  RoomShare: { at: 'GET /v1/billing/runway rooms.top', doc: 'What one room cost' },
  AlertThreshold: {
    at: 'GET /v1/alerts thresholds',
    go: 'ThresholdStatus',
    doc: 'A threshold that was set, and whether the balance is below it',
  },
  Budget: { at: 'GET /v1/budgets/{id}' },
  ListedStatement: {
    at: 'GET /v1/statements statements',
    doc: 'The balance of a month that has a statement',
  },
  SignedStatement: {
    at: 'GET /v1/statements/{month}',
    doc: 'A statement, and its signature if the month is over',
  },
  Statement: { at: 'GET /v1/statements/{month} statement', doc: 'The account of a month' },
  BillingDetails: {
    at: [
      'GET /v1/billing/details',
      'GET /v1/statements/{month} statement.issuer_details',
      'GET /v1/statements/{month} statement.tenant.details',
    ],
    doc: 'Name, address and tax id on statements. What is absent is not known',
  },
  TimeZone: { at: 'GET /v1/billing/time-zone', doc: 'Where the days and months of a tenant begin' },
  StatementTenant: { at: 'GET /v1/statements/{month} statement.tenant' },
  Movements: {
    at: ['payments', 'reversals', 'adjustments'].map(
      (each) => `GET /v1/statements/{month} statement.${each}`,
    ),
    doc: 'Changes of the balance of one kind',
  },
  Movement: {
    at: ['payments', 'reversals', 'adjustments', 'grants'].map(
      (each) => `GET /v1/statements/{month} statement.${each}.entries`,
    ),
    doc: 'One change of the balance',
  },
  FurtherMovements: {
    at: 'GET /v1/statements/{month} statement.payments.others',
    doc: 'Movements that are not listed, added up',
  },
  GrantedCredit: {
    at: 'GET /v1/statements/{month} statement.grants',
    doc: 'Granted credit in a month',
  },
  StatementUsage: { at: 'GET /v1/statements/{month} statement.usage', doc: 'What usage cost' },
  RoomUsage: { at: 'GET /v1/statements/{month} statement.usage.rooms' },
  FurtherRooms: {
    at: 'GET /v1/statements/{month} statement.usage.others',
    doc: 'Rooms that are not listed, added up',
  },
  Grant: { at: 'GET /v1/grants grants' },
  Payment: { at: 'GET /v1/payments payments' },
  Receipt: {
    at: 'GET /v1/payments/{id}/receipt',
    doc: 'The pages of the payment provider for a payment. They expire after at most 30 days',
  },
  ApiKey: { at: 'GET /v1/keys keys', go: 'Key' },
  CreatedKey: { at: 'POST /v1/keys', doc: 'A new key, and its plaintext' },
  RotatedKey: { at: 'POST /v1/keys/{id}/rotate', doc: 'The replacement of a key' },
  SignedUp: { at: 'POST /v1/signup', doc: 'A new tenant, which pays before it can do anything' },
  RateCard: { at: 'GET /v1/rates' },
  Ceilings: { at: 'GET /v1/rates ceiling_per_1000_participant_minutes' },
  TierCeilings: {
    at: 'GET /v1/rates ceiling_per_1000_participant_minutes.host',
    doc: 'The most that 1000 minutes of one participant cost, by tier',
  },
  ExactAmount: { at: 'POST /v1/rates/simulate price', doc: 'An exact amount of money' },
  Simulation: { at: 'POST /v1/rates/simulate', doc: 'What a room would cost' },
  SimulatedLine: {
    at: 'POST /v1/rates/simulate lines',
    doc: 'What participants who are alike would cost',
  },
  UsageReport: { at: 'POST /v1/usage', go: 'ChargedUsage', doc: 'What became of a batch of usage' },
  ChargedRecord: { at: 'GET /v1/usage/records records', doc: 'A usage record, and what it cost' },
  Session: {
    at: 'GET /v1/sessions sessions',
    doc: 'What one participant did in one room, from entering to leaving, and what it cost',
  },
  SecondsByTier: { at: 'GET /v1/sessions sessions.seconds_by_tier' },
  ShownSession: { at: 'GET /v1/sessions/{id}', doc: 'A session with its newest records' },
  RoomCost: { at: 'GET /v1/rooms/{uid}/cost', doc: 'What a room cost' },
  SessionSums: {
    at: 'GET /v1/rooms/{uid}/cost assigned',
    doc: 'Sums of usage, with the seconds of each tier',
  },
  UsageConflict: { at: 'GET /v1/usage/conflicts conflicts' },
  ReportedUsage: { at: 'GET /v1/usage/conflicts conflicts.charged', doc: 'What a relay reported for an id' },
  UsageSummary: { at: 'GET /v1/usage/summary', doc: 'A page of sums, and the sum of all pages' },
  UsageRow: { at: 'GET /v1/usage/summary rows', doc: 'One group of usage' },
  UsageSums: { at: 'GET /v1/usage/summary sum', doc: 'Sums of usage' },
  ExplainedUsage: { at: 'GET /v1/usage/{id}/explain', doc: 'A charge, and how it came about' },
  ChargeExplanation: {
    at: 'GET /v1/usage/{id}/explain explanation',
    doc: 'The calculation of a charge, step by step. Texts are decimals',
  },
  UsagePosting: {
    at: 'GET /v1/usage/{id}/explain posting',
    doc: 'A change of the balance by records that were charged together',
  },
  LookedUpRecord: { at: 'POST /v1/usage/lookup records', doc: 'What became of the id of a record' },
  MailSettings: {
    at: 'GET /v1/mail',
    doc: 'The addresses that get mail about the account, and what they get',
  },
  AuditEntry: { at: 'GET /v1/audit entries' },
  AuditActor: { at: 'GET /v1/audit entries.actor', doc: 'Who made a change' },
  Erasure: { at: 'GET /v1/erasures/{id} erasure', doc: 'How far the erasure of a person is' },
  Webhook: { at: 'GET /v1/webhooks/{id}' },
  CreatedWebhook: { at: 'POST /v1/webhooks', doc: 'A webhook with new secrets. No later answer has them' },
  RotatedWebhookSecret: {
    at: 'POST /v1/webhooks/{id}/rotate',
    doc: 'The replacement of a secret. No later answer has it',
  },
  Delivery: { at: 'GET /v1/webhooks/{id}/deliveries deliveries', go: 'WebhookDelivery' },
  DeadLetter: { at: 'GET /v1/webhooks/{id}/dead-letters dead_letters' },
  WebhookEvent: {
    at: 'GET /v1/events events',
    doc: 'Something that happened to the tenant, in the form that webhooks and the pull of events have',
  },
  PulledEvents: { at: 'GET /v1/events', doc: 'The next events, and where to go on' },
};

/** A type of requests: the parameters of the operation's path and query, and its body. */
interface RequestName {
  /** An operation; with a way into its body, the type is that of the items there. */
  readonly at: string;
  readonly doc: string;
  /** The method in Go; without it, the type is part of another request. */
  readonly method?: string;
  readonly go?: string;
  /** Rust's `new`: what it makes, and the members that it takes. Without it, constructors are written by hand. */
  readonly new?: readonly [doc: string, ...members: string[]];
  /** Rust's default: none, because some members have to be given, or one that is written by hand. */
  readonly default?: 'none' | 'by hand';
  /** Rust has no such type: its method takes the members. */
  readonly isGoOnly?: true;
}

export const REQUESTS: Readonly<Record<string, RequestName>> = {
  SignUp: {
    at: 'POST /v1/signup',
    method: 'Client.SignUp',
    doc: 'The tenant to create',
    // Two texts could be given in the wrong order.
    new: ['A customer with this address. A name is needed, too', 'email'],
  },
  CreateKey: {
    at: 'POST /v1/keys',
    method: 'Keys.Create',
    doc: 'The key to create',
    new: ['A backend key with this name', 'name'],
  },
  RotateKey: {
    at: 'POST /v1/keys/{id}/rotate',
    method: 'Keys.Rotate',
    doc: 'The key to replace',
    new: ['Replace the key with this id', 'id'],
  },
  RevokeKey: { at: 'DELETE /v1/keys/{id}', method: 'Keys.Revoke', doc: 'The key to revoke' },
  ListLedger: {
    at: 'GET /v1/ledger',
    method: 'Billing.Ledger',
    doc: 'Which entries of the ledger to list',
    new: ['All entries'],
  },
  ListGrants: {
    at: 'GET /v1/grants',
    method: 'Billing.Grants',
    doc: 'From which grant on to list',
    new: ['From the newest on'],
  },
  ListPayments: {
    at: 'GET /v1/payments',
    method: 'Billing.Payments',
    doc: 'Which payments to list',
    new: ['All payments'],
  },
  GetRunway: {
    at: 'GET /v1/billing/runway',
    method: 'Billing.Runway',
    doc: 'Over which window to add rooms up',
    new: ['Rooms of the last 24 hours'],
  },
  SetAutoTopUp: {
    at: 'PUT /v1/billing/auto-top-up',
    method: 'Billing.SetAutoTopUp',
    doc: 'When to charge the saved card automatically',
  },
  SetBillingDetails: {
    at: 'PUT /v1/billing/details',
    method: 'Billing.SetDetails',
    doc: 'Name, address and tax id on statements, in place of all earlier ones',
    new: ['None of them: what is not set is removed'],
  },
  SetTimeZone: {
    at: 'PUT /v1/billing/time-zone',
    method: 'Billing.SetTimeZone',
    doc: 'Where days and months begin',
  },
  SetAlertThreshold: { at: 'PUT /v1/alerts thresholds', go: 'Threshold', doc: 'A threshold to set' },
  SetBudget: {
    at: 'PUT /v1/budgets/{id}',
    method: 'Budgets.Set',
    doc: 'A budget to make or change',
    new: [
      'A budget of the whole tenant, which refuses what does not fit if it is `hard`',
      ...['id', 'period', 'limit_micros', 'hard'],
    ],
    default: 'none',
  },
  SetMail: {
    at: 'PUT /v1/mail',
    method: 'Mail.Set',
    go: 'SetMailSettings',
    doc: 'Settings of the mail about the account, in place of all earlier ones',
    new: ['Alerts and receipts for the address given at signup'],
    default: 'by hand',
  },
  ListAudit: {
    at: 'GET /v1/audit',
    method: 'Audit.List',
    doc: 'Which changes to list',
    new: ['All changes'],
  },
  UsageRecord: {
    at: 'POST /v1/usage records',
    doc: 'The usage of one participant in one interval',
    new: [
      '`seconds` of a participant. The `id` is the same on every retry, and never used for another interval',
      ...['id', 'role', 'tier', 'seconds'],
    ],
    default: 'none',
  },
  ListUsageRecords: {
    at: 'GET /v1/usage/records',
    method: 'Usage.Records',
    doc: 'Which usage records to list',
    new: ['All records'],
  },
  ListSessions: {
    at: 'GET /v1/sessions',
    method: 'Usage.Sessions',
    doc: 'Which sessions to list',
    new: ['All sessions'],
  },
  ListUsageConflicts: {
    at: 'GET /v1/usage/conflicts',
    method: 'Usage.Conflicts',
    doc: 'Which page of conflicts to list',
    new: ['From the newest on'],
  },
  SummarizeUsage: {
    at: 'GET /v1/usage/summary',
    method: 'Usage.Summary',
    doc: 'Which usage to sum up',
    new: ['All usage of the last 30 days, in one row'],
  },
  SimulatedParticipants: {
    at: 'POST /v1/rates/simulate participants',
    doc: 'Participants who are alike, in a room that is to be priced',
    new: [
      '`count` participants, each of whom is connected for `seconds`',
      ...['role', 'tier', 'count', 'seconds'],
    ],
    default: 'none',
  },
  WebhookHeader: {
    at: 'POST /v1/webhooks headers',
    doc: 'A header that each request of a webhook has',
    new: ['The header of this name, with this value', 'name', 'value'],
    default: 'none',
  },
  BasicAuth: {
    at: 'POST /v1/webhooks basic_auth',
    doc: 'Basic authentication of each request of a webhook',
    new: ['This user, whose password is empty. An empty user, too: none', 'username'],
    default: 'none',
  },
  CreateWebhook: {
    at: 'POST /v1/webhooks',
    method: 'Webhooks.Create',
    doc: 'The webhook to create',
    new: ['A webhook that gets all events. The URL is an `https` one of the public internet', 'url'],
  },
  ChangeWebhook: {
    at: 'PATCH /v1/webhooks/{id}',
    method: 'Webhooks.Change',
    doc: 'What to change of a webhook. What is left out keeps its value',
    new: ['Change the webhook with this id', 'id'],
  },
  RotateWebhookSecret: {
    at: 'POST /v1/webhooks/{id}/rotate',
    method: 'Webhooks.RotateSecret',
    doc: 'The webhook whose secret to replace',
    new: ['Replace the secret of the webhook with this id', 'id'],
  },
  ListDeliveries: {
    at: 'GET /v1/webhooks/{id}/deliveries',
    method: 'Webhooks.Deliveries',
    doc: 'Which attempts to list',
    new: ['All that are kept of the webhook with this id', 'id'],
  },
  ListDeadLetters: {
    at: 'GET /v1/webhooks/{id}/dead-letters',
    method: 'Webhooks.DeadLetters',
    doc: 'Which events that were given up to list',
    new: ['All that were given up of the webhook with this id', 'id'],
  },
  PullEvents: {
    at: 'GET /v1/events',
    method: 'Webhooks.PullEvents',
    doc: 'Where to begin, and how long to wait',
    new: ['From the oldest event that is kept'],
  },
  OpenCheckout: { ...goOnly('POST /v1/billing/checkout', 'Billing.Checkout', 'What to pay'), go: 'Checkout' },
  GetStatement: goOnly('GET /v1/statements/{month}', 'Billing.Statement', 'Which month'),
  GetReceipt: goOnly('GET /v1/payments/{id}/receipt', 'Billing.Receipt', 'Which payment'),
  SetAlerts: goOnly('PUT /v1/alerts', 'Alerts.Set', 'All thresholds'),
  GetBudget: goOnly('GET /v1/budgets/{id}', 'Budgets.Get', 'Which budget'),
  DeleteBudget: goOnly('DELETE /v1/budgets/{id}', 'Budgets.Delete', 'Which budget'),
  ReportUsage: goOnly('POST /v1/usage', 'Usage.Report', 'A batch of records'),
  GetSession: goOnly('GET /v1/sessions/{id}', 'Usage.Session', 'Which session'),
  GetRoomCost: goOnly('GET /v1/rooms/{uid}/cost', 'Usage.RoomCost', 'Which room'),
  ExplainUsage: goOnly('GET /v1/usage/{id}/explain', 'Usage.Explain', 'A charge'),
  LookUpUsage: goOnly('POST /v1/usage/lookup', 'Usage.LookUp', 'Ids of records'),
  SimulateRoom: goOnly('POST /v1/rates/simulate', 'Rates.Simulate', 'Who is in the room'),
  EraseParticipant: goOnly('POST /v1/participants/erase', 'Participants.Erase', 'A person'),
  GetErasure: goOnly('GET /v1/erasures/{id}', 'Participants.Erasure', 'Which erasure'),
  GetWebhook: goOnly('GET /v1/webhooks/{id}', 'Webhooks.Get', 'Which webhook'),
  DeleteWebhook: goOnly('DELETE /v1/webhooks/{id}', 'Webhooks.Delete', 'Which webhook'),
  TestWebhook: goOnly('POST /v1/webhooks/{id}/test', 'Webhooks.Test', 'Which webhook'),
};

function goOnly(at: string, method: string, doc: string): RequestName {
  return { at, method, doc, isGoOnly: true };
}

/** Words that have a type. */
interface WordsName {
  readonly doc: string;
  /** What the names of constants in Go begin with. */
  readonly prefix: string;
  /** What each word means. */
  readonly words: Readonly<Record<string, string>>;
  /** Words of the interface that the SDKs do not know yet. They are unknown words there, like those of a later version. */
  readonly unknown?: readonly string[];
}

export const WORDS: Readonly<Record<string, WordsName>> = {
  TenantStatus: {
    doc: 'Whether a tenant may be served',
    prefix: 'Tenant',
    words: {
      pending: 'Until the first payment',
      active: 'It admits sessions',
      suspended: 'Stopped by the operator',
      archived: 'Put away',
      deleted: 'Gone',
    },
  },
  LedgerKind: {
    doc: 'What changed a balance',
    prefix: 'Ledger',
    words: {
      usage: 'A charge for usage',
      top_up: 'A payment',
      auto_top_up: 'An automatic payment',
      refund: 'A payment that was given back',
      dispute: 'A payment that its payer disputes',
      adjustment: 'Credit that the operator gave or took',
      correction: 'Usage that was priced again',
      grant: 'Credit that the operator granted',
      grant_expired: 'What was left of a grant at its end',
      grant_voided: 'What was left of a grant that the operator voided',
    },
  },
  GrantState: {
    doc: 'Whether usage still spends a grant',
    prefix: 'Grant',
    words: {
      active: 'Usage spends it',
      spent: 'Nothing is left',
      expired: 'It reached its end',
      voided: 'The operator voided it',
    },
  },
  KeyKind: {
    doc: 'What an API key is for',
    prefix: 'Key',
    words: { backend: 'Everything of the tenant', relay: 'Reports of usage' },
  },
  Role: {
    doc: 'What a participant is in a room',
    prefix: 'Role',
    words: {
      host: 'It leads the room',
      audience: 'It takes part',
      broadcast_audience: 'It watches a broadcast',
    },
  },
  Tier: {
    doc: 'The sum of all video that a participant receives at once',
    prefix: 'Tier',
    words: {
      audio: 'No video',
      hd: 'Up to HD',
      full_hd: 'Up to full HD',
      '2k': 'Up to 2K',
      '2k_plus': 'More than 2K',
    },
  },
  UsageGrouping: {
    doc: 'By what usage is summed up',
    prefix: 'By',
    words: {
      hour: 'By the hour. Not together with days or months',
      day: 'By the day, UTC',
      month: 'By the month, UTC',
      room: 'By the room',
      role: 'By the role',
      tier: 'By the tier',
      participant: 'By the participant of the session. Alone, or with days or months',
      key: 'By the key that admitted the participant. Alone, or with days or months',
      customer: 'By the label that the mint named. Alone, or with days or months',
    },
  },
  ChargeLimit: {
    doc: 'What makes the price of a record',
    prefix: 'LimitedBy',
    words: { fee: 'The platform fee', ceiling: 'The ceiling' },
  },
  Rounding: {
    doc: 'What becomes of fractions of a micro',
    prefix: 'Rounding',
    words: { carry: 'They go to the next charge', per_record: 'Each record is rounded' },
  },
  LookupOutcome: {
    doc: 'What became of the id of a record',
    prefix: 'Lookup',
    words: {
      charged: 'It was charged',
      unbilled: 'It was accepted while the tenant was exempt',
      unknown: 'It was never accepted: report it',
    },
  },
  LeaveReason: {
    doc: 'Why a participant left',
    prefix: 'Left',
    words: {
      expired: 'The last token expired',
      kicked: 'A moderator kicked the participant',
      banned: 'A moderator banned the participant',
      ended: 'The room ended',
      watchdog: 'A watchdog did it',
    },
  },
  ErasureState: {
    doc: 'Whether the erasure of a person is done',
    prefix: 'Erasure',
    words: {
      pending: 'It goes on in the background',
      done: 'Nothing that is stored shows the name any more',
    },
  },
  ThresholdKind: {
    doc: 'What a threshold is about',
    prefix: 'Threshold',
    words: { balance: 'An amount of credit', runway: 'Hours that the credit lasts' },
  },
  BudgetPeriod: {
    doc: 'What a budget is for',
    prefix: 'BudgetFor',
    words: { day: 'Each day, UTC', month: 'Each month, UTC', total: 'Everything' },
  },
  RunwayWindow: {
    doc: 'Hours or days up to now',
    prefix: 'Runway',
    words: { '1h': 'The last hour', '24h': 'The last 24 hours', '7d': 'The last 7 days' },
  },
  AuditActorKind: {
    doc: 'Who makes changes',
    prefix: 'Audit',
    words: { key: 'An API key', operator: 'An operator of the deployment', system: 'The service itself' },
    unknown: ['member'],
  },
  WebhookState: {
    doc: 'Whether a webhook gets events',
    prefix: 'Webhook',
    words: { active: 'It gets them', paused: 'Nothing is delivered, and events wait' },
  },
  WebhookPauser: {
    doc: 'Why a webhook is paused',
    prefix: 'PausedBy',
    words: {
      tenant: 'By a request',
      failing: 'The last attempt of a delivery failed',
      gone: 'The answer was 410',
    },
  },
  DeliveryKind: {
    doc: 'Why an event was sent',
    prefix: 'Delivery',
    words: {
      event: 'In its place',
      aside: 'It was put aside, so later events may have come before',
      test: 'The test event',
      resend: 'It was asked for again',
    },
  },
  DeliveryOutcome: {
    doc: 'How attempts to send events ended',
    prefix: 'Outcome',
    words: {
      delivered: 'The answer had a status from 200 to 299',
      failed: 'The answer had another status, or there was none',
    },
  },
  Death: {
    doc: 'Why the last attempt to send an event failed',
    prefix: 'Death',
    words: { refused: 'The answer had another status than 2xx', unanswered: 'There was no answer' },
  },
  WebhookOrder: {
    doc: 'In which order a webhook gets events',
    prefix: 'Order',
    words: {
      tenant: 'Each event once the one before was accepted',
      room: 'So in each room, and rooms side by side',
      none: 'All side by side',
    },
  },
  WebhookFormat: {
    doc: 'Which names the events of a webhook have',
    prefix: 'Format',
    words: {
      boxoffice: 'As GET /v1/events answers them',
      cloudevents: 'Those of CloudEvents 1.0',
    },
  },
};

/** Names in both languages of words that are no names. */
export const WORD_NAMES: Readonly<Record<string, string>> = { '1h': 'hour', '24h': 'day', '7d': 'week' };

/** The words of a member, where the description does not have all of them, or they are those of two types. */
export const WORDS_OF_MEMBERS: Readonly<Record<string, string>> = {
  'SignedUp.status': 'TenantStatus',
  'ReportedUsage.role': 'Role',
  'ReportedUsage.tier': 'Tier',
};

/** Types whose integers are never negative. */
export const UNSIGNED: readonly string[] = [
  'UsageReport',
  'Webhook',
  'Delivery',
  'DeadLetter',
  'WebhookEvent',
  'PulledEvents',
];

/** Members that come first, where the order on the wire is another one. */
export const FIRST: Readonly<Record<string, readonly string[]>> = {
  Statement: ['version', 'iss', 'tenant', 'month', 'so_far'],
};

/** Members with other names than on the wire. */
export const RENAMED: Readonly<Record<string, string>> = { 'ListLedger.kind': 'kinds' };

/** What is said of members for which the description of the wire does not do. */
export const DOCS: Readonly<Record<string, string>> = {
  'GetRunway.window': 'Over which rooms are added up. Absent: `24h`',
  'ExplainUsage.id': 'The id of the record',
  'SummarizeUsage.group_by':
    'A row for each combination of these; one of `hour`, `day` and `month` at most, and of `participant`, `key` and ' +
    '`customer` one alone, or with `day` or `month`. Absent: one row',
  'SummarizeUsage.from':
    'Start of the period, a whole hour or the start of a day in the time zone of the tenant; of sums of sessions, a whole day ' +
    'in UTC. Absent: 30 days before `to`; of sums of sessions, the start of its month',
  'SummarizeUsage.to':
    'End of the period, a whole hour or the start of a day in the time zone of the tenant; of sums of sessions, a whole day ' +
    'in UTC. Absent: the end of this hour; of sums of sessions, of this month',
  'SummarizeUsage.cursor':
    '`next_cursor` of the previous page, which needs its `from` and `to` too; empty: the first page',
  'PullEvents.wait_seconds':
    'How long to wait for an event if there is none: whole seconds, up to 20. Absent: do not wait',
  'WebhookEvent.seq': 'Events of a tenant are numbered from 1, without a gap. 0: the test event of a webhook',
  'WebhookEvent.data':
    'What it happened to, as it was right after. It depends on the type; expect new members',
  'WebhookEvent.type': 'What happened, such as `balance_low`. Expect new types',
  'AuditEntry.action': 'What was done, such as `key_revoked`. Expect new actions',
};
