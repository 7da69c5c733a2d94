/** When each alert fires, and what is still well: series in the notation of promtool, a sample a minute, or an hour where days matter. */

/** By name. `0+2x5` is 0 2 4 6 8 10, and `_x5` five times nothing. */
export type Series = Readonly<Record<string, string>>;

export interface AlertCase {
  readonly alert: string;
  /** What lies between two samples, and between two looks at the rules. */
  readonly interval: '1m' | '1h';
  readonly ill: Series;
  /** The last time at which nothing fires. */
  readonly notYet: string;
  readonly fires: string;
  /** Close to it, but nothing fires at `fires`. */
  readonly well: Series;
}

const REQUESTS = 'boxoffice_http_requests_total';
const CALLS = 'boxoffice_grpc_calls_total';
const USAGE_BUCKETS = 'boxoffice_http_request_duration_seconds_bucket{method="POST",route="/v1/usage"';
const CHARGE_BUCKETS = 'boxoffice_charge_duration_seconds_bucket';
const LATENESS_BUCKETS = 'boxoffice_watchdog_lateness_seconds_bucket';
const RECORDS = 'boxoffice_usage_records_total';
const PARKED = 'boxoffice_parked_notifications';
const MAILS = 'boxoffice_mails_total';
const DELIVERIES = 'boxoffice_webhook_deliveries_total';
const SERVER = 'boxoffice_database_server_reachable';
const LANE = 'boxoffice_webhook_lanes{lane="fast",state="waiting"}';

/** An alert, what is wrong, the last minute or hour without it, the first with it, and what is still well. */
type Row = readonly [alert: string, ill: Series, notYet: number, fires: number, well: Series];

const IN_MINUTES: readonly Row[] = [
  ['Down', { 'up{job="boxoffice"}': '1+0x5 0+0x9' }, 6, 7, { 'up{job="boxoffice"}': '1+0x5 0 1+0x9' }],
  ['Down', { 'up{job="boxoffice"}': '_x9' }, 0, 1, {}],
  [
    'Errors',
    { [`${REQUESTS}{status="200"}`]: '0+98x9', [`${REQUESTS}{status="500"}`]: '0+2x9' },
    5,
    6,
    { [`${REQUESTS}{status="200"}`]: '0+99x9', [`${REQUESTS}{status="500"}`]: '0+1x9' },
  ],
  [
    'Errors',
    { [`${REQUESTS}{status="200"}`]: '0+98x9', [`${REQUESTS}{status="503"}`]: '0+2x9' },
    5,
    6,
    { [`${REQUESTS}{status="200"}`]: '0+98x9', [`${REQUESTS}{status="429"}`]: '0+2x9' },
  ],
  [
    'ControlPlaneFails',
    { [`${CALLS}{code="OK"}`]: '0+1x9', [`${CALLS}{code="INTERNAL"}`]: '_x5 1+0x9' },
    4,
    5,
    { [`${CALLS}{code="OK"}`]: '0+1x9' },
  ],
  [
    'ControlPlaneFails',
    { [`${CALLS}{code="INTERNAL"}`]: '1+0x20 2+0x9' },
    20,
    21,
    { [`${CALLS}{code="INTERNAL"}`]: '1+0x30' },
  ],
  [
    'ControlPlaneFails',
    { [`${CALLS}{code="UNAVAILABLE"}`]: '0+1x9' },
    5,
    6,
    { [`${CALLS}{code="UNAVAILABLE"}`]: '0 9+0x9' },
  ],
  [
    'JoinsFail',
    { 'boxoffice_joins_total{outcome="unavailable"}': '0+1x9' },
    5,
    6,
    {
      'boxoffice_joins_total{outcome="joined"}': '0+1x9',
      'boxoffice_joins_total{outcome="unavailable"}': '0 9+0x9',
    },
  ],
  ['UsageSlow', buckets(`${USAGE_BUCKETS},`, 98), 5, 6, buckets(`${USAGE_BUCKETS},`, 100)],
  ['UsageSlow', buckets(`${CHARGE_BUCKETS}{`, 98), 5, 6, buckets(`${CHARGE_BUCKETS}{`, 100)],
  [
    'ChargeQueue',
    { boxoffice_charge_queue_records: '0+0x3 100001+0x9' },
    4,
    5,
    { boxoffice_charge_queue_records: '100000+0x9' },
  ],
  [
    'ConnectionsWait',
    { 'boxoffice_pool_connections{state="waiting"}': '0 1+0x9' },
    5,
    6,
    {
      'boxoffice_pool_connections{state="busy"}': '20+0x9',
      'boxoffice_pool_connections{state="waiting"}': '0 1 1 1 0 1 1 1',
    },
  ],
  [
    'DatabaseServerAway',
    { [`${SERVER}{server="one:5432"}`]: '1+0x9', [`${SERVER}{server="two:5432"}`]: '1 0+0x9' },
    1,
    2,
    { [`${SERVER}{server="one:5432"}`]: '1+0x9', [`${SERVER}{server="two:5432"}`]: '1 0 1+0x9' },
  ],
  [
    'EventLoopLags',
    { nodejs_eventloop_lag_p99_seconds: '0.1 0.3+0x9' },
    5,
    6,
    { nodejs_eventloop_lag_p99_seconds: '0.2+0x9' },
  ],
  [
    'LedgerDrift',
    { boxoffice_ledger_drift_micros: '0+0x5 -1+0x9' },
    5,
    6,
    { boxoffice_ledger_drift_micros: '0+0x9' },
  ],
  [
    'NothingCharged',
    { [`${RECORDS}{outcome="charged"}`]: '0+9x20', boxoffice_charged_micros_total: '5+0x20' },
    15,
    16,
    { [`${RECORDS}{outcome="charged"}`]: '0+9x20', boxoffice_charged_micros_total: '5+1x20' },
  ],
  [
    'BalanceRefused',
    { boxoffice_balance_refusals_total: '0+0x5 1+0x9' },
    5,
    6,
    { boxoffice_balance_refusals_total: '3+0x9' },
  ],
  [
    'UsageConflicts',
    { [`${RECORDS}{outcome="conflict"}`]: '0+0x5 1+0x9' },
    5,
    6,
    { [`${RECORDS}{outcome="conflict"}`]: '3+0x9', [`${RECORDS}{outcome="duplicate"}`]: '0+1x9' },
  ],
  [
    'ArchiveLags',
    { boxoffice_archive_lag_seconds: '107940+60x20' },
    16,
    17,
    { boxoffice_archive_lag_seconds: '120000-60x20' },
  ],
  [
    'ProviderEventsRefused',
    { [`${REQUESTS}{route="/v1/stripe/webhook",status="400"}`]: '0+1x20' },
    15,
    16,
    {
      [`${REQUESTS}{route="/v1/stripe/webhook",status="200"}`]: '0+1x20',
      [`${REQUESTS}{route="/v1/usage",status="400"}`]: '0+1x20',
    },
  ],
  [
    'PaymentsParked',
    { [`${PARKED}{state="parked"}`]: '0+0x5 1+0x9' },
    5,
    6,
    { [`${PARKED}{state="parked"}`]: '0+0x9' },
  ],
  [
    'PaymentsParked',
    { [`${PARKED}{state="failing"}`]: '0 1+0x15' },
    10,
    11,
    { [`${PARKED}{state="failing"}`]: '0 1+0x7 0 1+0x7' },
  ],
  [
    'ProviderDrift',
    { boxoffice_provider_drift: '0 1+0x20' },
    15,
    16,
    { boxoffice_provider_drift: '0 1+0x7 0 1+0x20' },
  ],
  [
    'ProviderNotCompared',
    { boxoffice_provider_drift_age_seconds: '7400+60x9' },
    1,
    2,
    { boxoffice_provider_drift_age_seconds: '7380+60x9' },
  ],
  [
    'TopUpsUnknown',
    { 'boxoffice_top_ups_total{outcome="unknown"}': '0+1x20' },
    15,
    16,
    {
      'boxoffice_top_ups_total{outcome="unknown"}': '0 1+0x20',
      'boxoffice_top_ups_total{outcome="succeeded"}': '0+1x20',
    },
  ],
  [
    'DeletedTenantPaid',
    { boxoffice_deleted_tenant_payments_total: '0+0x5 1+0x9' },
    5,
    6,
    { boxoffice_deleted_tenant_payments_total: '3+0x9' },
  ],
  [
    'ListenersBehind',
    { 'boxoffice_listener_lag_seconds{listener="mail"}': '0+30x9' },
    4,
    5,
    { 'boxoffice_listener_lag_seconds{listener="mail"}': '200-10x9' },
  ],
  [
    'ListenersBehind',
    { boxoffice_sessions_lag_seconds: '0+30x9' },
    4,
    5,
    { boxoffice_sessions_lag_seconds: '200-10x9' },
  ],
  ['WatchdogsLate', buckets(`${LATENESS_BUCKETS}{`, 98), 0, 1, buckets(`${LATENESS_BUCKETS}{`, 100)],
  [
    'WatchdogsLate',
    { 'boxoffice_watchdog_looks_total{outcome="failed"}': '_x5 1+0x9' },
    4,
    5,
    { 'boxoffice_watchdog_looks_total{outcome="fired"}': '_x5 1+0x9' },
  ],
  [
    'RelaysGone',
    { 'boxoffice_revocation_followers{key="relay"}': '20+0x5 9+0x9' },
    5,
    6,
    { 'boxoffice_revocation_followers{key="relay"}': '9+0x5 1+0x9' },
  ],
  [
    'SightingsDropped',
    { boxoffice_sightings_dropped_total: '0+1x90' },
    60,
    61,
    { boxoffice_sightings_dropped_total: '0+0x5 9+0x90' },
  ],
  [
    'MailsFail',
    { [`${MAILS}{outcome="failed"}`]: '_x5 1+0x9' },
    4,
    5,
    { [`${MAILS}{outcome="sent"}`]: '_x5 1+0x9' },
  ],
  [
    'MailsFail',
    { [`${MAILS}{outcome="retried"}`]: '0+1x20' },
    15,
    16,
    { [`${MAILS}{outcome="retried"}`]: '0 1+0x20' },
  ],
  ['WebhooksWait', { [LANE]: '0 1+0x9' }, 5, 6, { [LANE]: '0 1 1 0 1 1 1 1' }],
  [
    'WebhooksWait',
    { boxoffice_webhook_lag_seconds: '0+30x9' },
    4,
    5,
    {
      boxoffice_webhook_lag_seconds: '0+30x9',
      [`${DELIVERIES}{outcome="unanswered"}`]: '0+1x9',
      [`${DELIVERIES}{outcome="delivered"}`]: '0+1x9',
    },
  ],
  [
    'ReceiversFail',
    { boxoffice_webhooks_paused: '2+0x5 12+0x9' },
    5,
    6,
    { boxoffice_webhooks_paused: '2+0x5 11+0x9' },
  ],
  [
    'ReceiversFail',
    { [`${DELIVERIES}{outcome="unanswered"}`]: '0+2x20', [`${DELIVERIES}{outcome="delivered"}`]: '0+1x20' },
    15,
    16,
    { [`${DELIVERIES}{outcome="unanswered"}`]: '0+1x20', [`${DELIVERIES}{outcome="delivered"}`]: '0+1x20' },
  ],
];

const IN_HOURS: readonly Row[] = [
  [
    'LimitsReached',
    { 'boxoffice_limit_refusals_total{limit="rooms"}': '0+1x60' },
    48,
    49,
    { 'boxoffice_limit_refusals_total{limit="rooms"}': '0+1x20 20+0x40' },
  ],
  [
    'WebhooksCut',
    { boxoffice_webhook_cuts_total: '0+1x60' },
    48,
    49,
    { boxoffice_webhook_cuts_total: '0+1x20 20+0x40' },
  ],
];

/** A hundred a minute, `withinSecond` of them within one. `start` is a name and its labels so far. */
function buckets(start: string, withinSecond: number): Series {
  return {
    [`${start}le="1"}`]: `0+${withinSecond}x9`,
    [`${start}le="2.5"}`]: '0+100x9',
    [`${start}le="+Inf"}`]: '0+100x9',
  };
}

const casesOf = (rows: readonly Row[], unit: 'm' | 'h') =>
  rows.map(
    ([name, ill, notYet, fires, well]): AlertCase => ({
      alert: `Boxoffice${name}`,
      interval: `1${unit}`,
      ill,
      notYet: `${notYet}${unit}`,
      fires: `${fires}${unit}`,
      well,
    }),
  );

export const ALERT_CASES = [...casesOf(IN_MINUTES, 'm'), ...casesOf(IN_HOURS, 'h')];
