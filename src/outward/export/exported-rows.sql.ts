/**
 * SQL that reads everything that is stored about a tenant, one JSON object for each row.
 *
 * A test compares these lists with the schema, so a new table or column is exported, or left out for a reason.
 */
import type { Db } from '../../base/db/pool.ts';
import { readByCursor } from '../../base/db/read-by-cursor.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { decode } from '../../money/pricing/role-codes.ts';
import { readRecordLines } from './record-lines.ts';

interface Exported {
  /** In their order. */
  readonly columns: string;
  /** SQL of columns that are stored as codes. */
  readonly decoded?: Readonly<Record<string, string>>;
  /** Which rows are the tenant's, in SQL with `$1`. */
  readonly where?: string;
  /** The key that rows are ordered by, after the tenant. */
  readonly order?: string;
  /** What reads the lines instead, if rows are not the only place of what is stored. */
  readonly lines?: (db: Db, tenant: TenantId) => AsyncGenerator<readonly string[]>;
}

const OF_PAYMENTS = 'payment_id in (select id from payments where tenant_id = $1)';

/** Tables in the order of the export. Columns with amounts are in micros. */
export const EXPORTED: Readonly<Record<string, Exported>> = {
  tenants: {
    columns: 'name, email, status, exempt, limits, has_budgets, created_at',
    where: 'id = $1',
    order: 'id',
  },
  tenant_status_changes: { columns: 'at, old_status, new_status, reason, told', order: 'at' },
  tenant_limit_changes: { columns: 'limit_name, at, old_value, new_value, reason', order: 'limit_name, at' },
  tenant_name_changes: { columns: 'at, old_name, new_name', order: 'at' },
  audit_entries: {
    columns: 'seq, id, at, actor_kind, actor_id, address, action, subject, before, after',
    order: 'seq',
  },
  members: {
    columns: 'id, email, role, created_at, joined_at, is_founder, last_used_at, must_review',
    order: 'id',
  },
  api_keys: {
    columns: `id, name, kind, created_at, retires_at, revoked_at, ceiling_capabilities, ceiling_roles, ceiling_rooms,
      ceiling_rank, ceiling_lifetime_seconds, trusted`,
    order: 'id',
  },
  device_credentials: {
    columns: 'id, name, publish, rooms, default_room, expires_at, created_at, retires_at, revoked_at',
    order: 'id',
  },
  agent_keys: {
    columns: 'id, name, role, writes_per_day, created_at, expires_at, revoked_at',
    order: 'id',
  },
  kept_access: { columns: 'kind, id, kept_at', order: 'kind, id' },
  last_uses: { columns: 'kind, id, at, address', order: 'kind, id' },
  key_use_hours: { columns: 'key_id, hour, uses', order: 'key_id, hour' },
  accounts: { columns: 'balance, carry, last_seq', order: 'tenant_id' },
  postings: {
    columns: `seq, kind, balance_before, amount, balance, at, rate_version, rule_version, rounding, carry, records,
      newest_ids, reference, detail, payment_id`,
    decoded: { rounding: decode('rounding', { carry: 'c', per_record: 'r', unknown: 'u' }) },
    order: 'seq',
  },
  grants: {
    columns: `id, seq, amount, reason, key, granted_at, expires_at, due_at, ended_at, ended_by, last_seq, end_seq,
      forfeited`,
    order: 'seq',
  },
  usage_records: {
    columns: `id, posting_seq, line, room, participant, role, tier, seconds, egress_bytes, ingress_bytes, amount,
      capped`,
    lines: readRecordLines,
  },
  usage_conflicts: { columns: 'id, times, first_at, last_at, reported', order: 'id' },
  corrections: {
    columns: 'from_at, to_at, number, posting_seq, rate_version, records, charged, recomputed, amount',
    order: 'from_at, to_at, number',
  },
  conflict_notices: { columns: 'told_at, reports, first_at, ids', order: 'tenant_id' },
  payment_settings: {
    columns: `customer_id, payment_method_id, card_fingerprint, first_paid_at, card_paid_at, card_checkout_at,
      card_brand, card_last4, card_ends_on, card_look_at, card_member, top_up_key,
      top_up_enabled, top_up_below, top_up_amount, top_up_paused_until, frozen_by, reversed_payments, parked_payments,
      last_top_up_error`,
    order: 'tenant_id',
  },
  billing_details: { columns: 'seq, at, name, address, tax_id', order: 'seq' },
  time_zones: { columns: 'seq, at, name, month', order: 'seq' },
  month_ends: { columns: 'month, at', order: 'month' },
  statement_notices: { columns: 'month', order: 'tenant_id' },
  card_notices: { columns: 'card, ends_on, told_at', order: 'card, ends_on' },
  alert_thresholds: { columns: 'kind, below, burn, raised_at', order: 'kind, below' },
  checkouts: { columns: 'id, amount, state, session_id, created_at, expire_at, member_id', order: 'id' },
  payments: {
    columns: 'id, kind, credited, tax, reversed, attempt_id, checkout_id, card_fingerprint, settled_at',
    order: 'id',
  },
  refunds: { columns: 'id, payment_id, amount, status, final, changed_at', where: OF_PAYMENTS, order: 'id' },
  disputes: {
    columns: 'id, payment_id, amount, withdrawn, reinstated, outcome, movements, changed_at, reason, inquiry',
    where: OF_PAYMENTS,
    order: 'id',
  },
  fraud_warnings: { columns: 'id, payment_id, at, reason', where: OF_PAYMENTS, order: 'id' },
  provider_events: {
    columns: 'id, type, outcome, reason, received_at, payment_id, tries, tried_at',
    order: 'id',
  },
  top_up_attempts: {
    columns: `id, amount, state, customer_id, payment_method_id, card_fingerprint, first_sent_at, resent_at, sends, keys,
      new_key_at, next_at, payment_id, decline_code, error, created_at, finished_at`,
    order: 'id',
  },
  rooms: {
    columns: `uid, name, incarnation, state, policy, created_at, ended_at, end_reason, metadata, last_left_at,
      last_host_at, is_swept`,
    order: 'uid',
  },
  participants: {
    columns: `room_uid, username, skeleton, role, rank, capabilities, muted, publish_revoked, epoch, epoch_reason,
      revoked_at, tier, entered_at, last_seen_at, expires_at, left_at, leave_reason`,
    order: 'room_uid, username',
  },
  admissions: {
    columns:
      'room_uid, username, device, role, rank, capabilities, key_id, customer, admitted_at, expires_at',
    order: 'room_uid, username, device',
  },
  sessions: {
    columns: `id, room, room_uid, participant, role, key_id, customer, devices, entered_at, left_at, leave_reason, first_seq,
      last_seq, records, seconds, egress_bytes, ingress_bytes, amount, unbilled`,
    order: 'id',
  },
  session_sums: {
    columns: 'start, records, seconds, kind, part, name, egress_bytes, ingress_bytes, amount, unbilled',
    decoded: {
      kind: decode('kind', { participant: 'p', key: 'k', customer: 'c' }),
      part: decode('part', { day: 'd', month: 'm' }),
    },
    order: 'kind, part, start, name',
  },
  room_usage: {
    columns:
      'room, room_uid, is_assigned, sessions, records, seconds, egress_bytes, ingress_bytes, amount, unbilled',
    order: 'room, room_uid, is_assigned',
  },
  moderation_events: {
    columns: `id, action, room_uid, kind, value, tracks, reason, actor, key_id, member_id, watchdog_id, at,
      expires_at`,
    order: 'id',
  },
  bans: {
    columns: `id, room, room_uid, kind, value, network, reason, actor, rank, created_at, set_at, expires_at, lifted_at`,
    order: 'id',
  },
  budgets: {
    columns: `id, uid, key_id, room, customer, period, max, hard, shares, spent, held, free, period_start, told,
      created_at`,
    order: 'id',
  },
  budget_holds: {
    columns: 'room, username, device, key_id, customer, rate, seconds, until, budgets',
    order: 'room, username, device, key_id, customer',
  },
  watchdogs: {
    columns: `id, room_uid, condition, duration_ms, action, warn_before_ms, state, check_at, looked_at, held_since,
      warned_at, fired_for, fired_at, created_at`,
    order: 'id',
  },
  events: { columns: 'seq, at, type, room_uid, subject', order: 'seq' },
  unnumbered_events: { columns: 'id, at, type, room_uid, subject, revokes', order: 'id' },
  mail_settings: { columns: 'signup_address, addresses, alerts, receipts', order: 'tenant_id' },
  mail_unsubscribes: { columns: 'address, at', order: 'address' },
  // Links to log in are mailed to people, and belong to no tenant.
  mails: {
    columns: `id, address, kind, event_seq, event_type, event_at, subject, is_last, state, attempts, next_at, error,
      expires_at, created_at, finished_at`,
    order: 'id',
  },
  webhook_endpoints: {
    columns: `id, url, types, rooms, description, ordering, max_in_flight, max_per_second, format, max_batch,
      header_names, has_basic_auth, created_at`,
    order: 'id',
  },
  webhook_cursors: {
    columns: 'webhook_id, seq, skipped, paused_by, paused_at, failures, retry_at, aside_at, delivered_at',
    order: 'webhook_id',
  },
  webhook_waiting: {
    columns: 'webhook_id, seq, room_uid, failures, failed_at, retry_at',
    order: 'webhook_id, seq',
  },
  webhook_secrets: { columns: 'webhook_id, number, created_at, retires_at', order: 'webhook_id, number' },
  webhook_deliveries: {
    columns: `webhook_id, id, kind, event_id, seq, type, attempt, signed_at, skipped, at, latency_ms, status, error,
      answer, gave_up, format, batch_id, sent_again_at`,
    order: 'webhook_id, id',
  },
  // Answers are encrypted, and hold what the other tables do.
  idempotency_keys: { columns: 'key, created_at', order: 'key' },
  erasures: {
    columns: 'id, name, state, step, records, others, created_at, next_at, finished_at',
    order: 'id',
  },
};

/** Tables that say nothing about a tenant that the others do not say. */
export const NOT_EXPORTED: Readonly<Record<string, string>> = {
  agent_confirmations: 'writes that agents were shown, as hashes, for a day',
  card_breakers: 'of cards, of any tenant',
  console_sessions: 'who is logged in, for a week',
  database_servers: 'of the deployment',
  event_cursors: 'how far listeners are',
  event_listeners: 'of the deployment',
  event_streams: 'the numbers of the newest events',
  event_turns: 'what waits for listeners',
  kept_forms: 'what was typed before a log-in, sealed, for minutes',
  known_id_pages: 'hashes of ids',
  known_id_runs: 'hashes of ids',
  login_attempts: 'log-ins that were begun, for ten minutes',
  login_links: 'links that log in once',
  operator_links: 'links of operators, which log in once',
  operator_sessions: 'which operators are logged in, for hours',
  passkey_challenges: 'what a browser is asked to sign, for minutes',
  passkey_holders: 'addresses that have passkeys, whatever tenants they are members of',
  passkeys: 'of people, who log in with them to all of their tenants',
  verifications: 'what operators let compute about all tenants',
  migrations: 'of the deployment',
  processes: 'of the deployment',
  provider_cursor: 'of the deployment',
  provider_drift: 'of the deployment',
  rate_cards: 'of the deployment',
  budget_alerts: 'counters of a day',
  rate_limits: 'counters that end within an hour',
  record_chunks: 'archived records, which the lines of usage_records have',
  room_lapses: 'when to look at a room next',
  session_cursors: 'how far usage is assigned to sessions',
  signing_keys: 'of the deployment',
  tenant_places: 'what is counted again when needed',
  usage_deltas: 'sums of the records',
  usage_detail_days: 'sums of the records',
  usage_detail_months: 'sums of the records',
  usage_detail_weeks: 'sums of the records',
  usage_hours: 'sums of the records',
  usage_room_days: 'sums of the records',
  usage_room_hours: 'sums of the records',
  usage_rollups: 'how far sums are added up',
  usage_room_weeks: 'sums of the records',
};

/** Columns of exported tables that are left out: secrets and hashes, how far the work on a row is, what was told. */
export const NOT_EXPORTED_COLUMNS: readonly string[] = [
  'accounts.archived_seq',
  'agent_keys.hash',
  'alert_thresholds.floor',
  'alert_thresholds.measured_at',
  'alert_thresholds.recover_from',
  'api_keys.hash',
  'api_keys.retirement_notice_at',
  'device_credentials.hash',
  'device_credentials.retirement_notice_at',
  'disputes.outcome_told',
  'disputes.told',
  'erasures.position',
  'fraud_warnings.told',
  'idempotency_keys.answer',
  'idempotency_keys.request_hash',
  'mails.sealed',
  'postings.inserted_at',
  'postings.previous_seq',
  'tenants.range_salt',
  'usage_records.inserted_at',
  'webhook_cursors.lease',
  'webhook_cursors.leased_by',
  'webhook_cursors.leased_until',
  'webhook_cursors.standing',
  'webhook_endpoints.sealed_headers',
  'webhook_endpoints.version',
  'webhook_secrets.sealed',
];

/** The rows of a table, each as a line of JSON. Needs a transaction, with one such read at a time. */
export async function* readLines(db: Db, tenant: TenantId, table: string): AsyncGenerator<readonly string[]> {
  const { columns, decoded = {}, where = 'tenant_id = $1', order, lines } = EXPORTED[table]!;
  if (lines) {
    yield* lines(db, tenant);
    return;
  }
  const selected = columns
    .split(/,\s*/)
    .map((name) => (decoded[name] ? `${decoded[name]} as "${name}"` : name));
  const rows = `select '${table}' as "table", tenant_name($1::bigint) as tenant, ${selected.join(', ')}
                  from ${table} where ${where} order by ${order}`;
  const pages = readByCursor<{ line: string }>(db, `select row_to_json(r)::text as line from (${rows}) r`, [
    tenant,
  ]);
  for await (const page of pages) yield page.map(({ line }) => line);
}

/** Times in UTC, for the rest of the transaction. */
export async function useUtc(db: Db): Promise<void> {
  await db.query(`set local timezone = 'UTC'`);
}

/** Sets the locks of exports apart from others. */
const EXPORTS = 0x45585054;

/** Until the transaction ends. Returns whether no other export of the tenant has it. */
export async function lockExport(tx: Db, tenant: TenantId): Promise<boolean> {
  const { rows } = await tx.query<{ locked: boolean }>(
    'select pg_try_advisory_xact_lock($1, hashint8($2)) as locked',
    [EXPORTS, tenant],
  );
  return rows[0]!.locked;
}
