-- 0072_webhook_recovery.sql where tables are distributed: Citus takes no new column with a check, but the check after it.
alter table webhook_deliveries
  add column sent_again_at timestamptz;

create index webhook_dead_letters on webhook_deliveries (tenant_id, webhook_id, seq) where gave_up and sent_again_at is null;

alter table webhook_endpoints
  add column rooms text[] not null default '{}';
alter table webhook_endpoints
  add constraint webhook_endpoints_rooms_check check (cardinality(rooms) <= 20);

alter table webhook_endpoints
  add column header_names   text[] not null default '{}',
  add column has_basic_auth boolean not null default false,
  add column sealed_headers bytea;
alter table webhook_endpoints
  add constraint webhook_endpoints_header_names_check check (cardinality(header_names) <= 10);
alter table webhook_endpoints
  add constraint webhook_endpoints_check
  check ((sealed_headers is not null) = (has_basic_auth or cardinality(header_names) > 0));
