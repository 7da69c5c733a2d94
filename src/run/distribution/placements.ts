/** Where each table lives once the database is distributed. */

/**
 * `distributed`: its rows lie on the worker that has their tenant. `reference`: every server has a whole copy, so
 * statements of one tenant join it, and the coordinator reads it by itself. `coordinator`: an ordinary table.
 */
export type Placement = 'distributed' | 'reference' | 'coordinator';

/** All rows of one tenant lie together on one server. In the order in which they are distributed. */
const DISTRIBUTED = [
  'accounts',
  'postings',
  'usage_records',
  'record_chunks',
  'usage_conflicts',
  'usage_deltas',
  'known_id_runs',
  'known_id_pages',
  'corrections',
  'usage_hours',
  'usage_room_hours',
  'usage_room_days',
  'usage_room_weeks',
  'usage_detail_days',
  'usage_detail_weeks',
  'usage_detail_months',
  'usage_rollups',
  'alert_thresholds',
  'payment_settings',
  'card_notices',
  'statement_notices',
  'grants',
  'tenant_places',
  'rooms',
  'participants',
  'admissions',
  'room_lapses',
  'sessions',
  'session_sums',
  'room_usage',
  'session_cursors',
  'bans',
  'budgets',
  'budget_holds',
  'budget_alerts',
  'moderation_events',
  'watchdogs',
  'idempotency_keys',
  'event_streams',
  'events',
  'unnumbered_events',
  'event_turns',
  'event_cursors',
  'webhook_endpoints',
  'webhook_secrets',
  'webhook_cursors',
  'webhook_waiting',
  'webhook_deliveries',
] as const;

/** Small, read by nearly every request, and seldom written: each change is written to every server. */
const REFERENCE = [
  'tenants',
  'api_keys',
  'device_credentials',
  'rate_cards',
  'signing_keys',
  'event_listeners',
] as const;

/** What is found by ids of the payment provider, or by people who log in, and is written seldom. */
const COORDINATOR = [
  'agent_confirmations',
  'agent_keys',
  'audit_entries',
  'billing_details',
  'card_breakers',
  'checkouts',
  'conflict_notices',
  'console_sessions',
  'database_servers',
  'disputes',
  'erasures',
  'fraud_warnings',
  'kept_access',
  'kept_forms',
  'key_use_hours',
  'last_uses',
  'login_attempts',
  'login_links',
  'mail_settings',
  'mail_unsubscribes',
  'mails',
  'members',
  'migrations',
  'month_ends',
  'operator_links',
  'operator_sessions',
  'passkey_challenges',
  'passkey_holders',
  'passkeys',
  'payments',
  'processes',
  'provider_cursor',
  'provider_drift',
  'provider_events',
  'rate_limits',
  'refunds',
  'tenant_limit_changes',
  'tenant_name_changes',
  'tenant_status_changes',
  'time_zones',
  'top_up_attempts',
  'verifications',
] as const;

const inPlacement = (tables: readonly string[], placement: Placement) =>
  tables.map((table) => [table, placement] as const);

export const PLACEMENTS: ReadonlyMap<string, Placement> = new Map([
  ...inPlacement(REFERENCE, 'reference'),
  ...inPlacement(DISTRIBUTED, 'distributed'),
  ...inPlacement(COORDINATOR, 'coordinator'),
]);
