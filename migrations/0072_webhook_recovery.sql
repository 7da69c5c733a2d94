-- Webhooks send again what was given up, and get only events of some rooms.
alter table webhook_deliveries
  -- Of an attempt that gave up: when the event was delivered, or put aside to be sent, after all.
  add column sent_again_at timestamptz;

-- The dead letters of a webhook: few rows of the log.
create index webhook_dead_letters on webhook_deliveries (tenant_id, webhook_id, seq) where gave_up and sent_again_at is null;

alter table webhook_endpoints
  -- Names of rooms and patterns: only events of such rooms. None: all events.
  add column rooms text[] not null default '{}' check (cardinality(rooms) <= 20);
