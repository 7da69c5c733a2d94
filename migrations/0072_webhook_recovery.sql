-- Webhooks send again what was given up, get only events of some rooms, and send headers of their own.
alter table webhook_deliveries
  -- Of an attempt that gave up: when the event was delivered, or put aside to be sent, after all.
  add column sent_again_at timestamptz;

-- The dead letters of a webhook: few rows of the log.
create index webhook_dead_letters on webhook_deliveries (tenant_id, webhook_id, seq) where gave_up and sent_again_at is null;

alter table webhook_endpoints
  -- Names of rooms and patterns: only events of such rooms. None: all events.
  add column rooms text[] not null default '{}' check (cardinality(rooms) <= 20);

-- What requests to a webhook have besides, for its receiver to let them in.
alter table webhook_endpoints
  add column header_names   text[] not null default '{}' check (cardinality(header_names) <= 10),
  add column has_basic_auth boolean not null default false,
  -- Sealed with SECRETS_KEY: the headers, the user name and the password. Null: there are none.
  add column sealed_headers bytea,
  add check ((sealed_headers is not null) = (has_basic_auth or cardinality(header_names) > 0));
