-- 0070_webhook_orders.sql where tables are distributed: Citus takes no new column with a check, but the check after it.
alter table webhook_endpoints
  add column ordering       text not null default 'tenant',
  add column max_in_flight  integer not null default 10,
  add column max_per_second integer;
alter table webhook_endpoints
  add constraint webhook_endpoints_ordering_check check (ordering in ('tenant', 'room', 'none'));
alter table webhook_endpoints
  add constraint webhook_endpoints_max_in_flight_check check (max_in_flight between 1 and 20);
alter table webhook_endpoints
  add constraint webhook_endpoints_max_per_second_check check (max_per_second >= 1);

alter table webhook_cursors
  add column aside_at     timestamptz,
  add column delivered_at timestamptz;

create table webhook_waiting (
  tenant_id  bigint not null,
  webhook_id text not null,
  seq        bigint not null,
  room_uid   text not null,
  failures   integer not null default 0 check (failures >= 0),
  failed_at  timestamptz,
  retry_at   timestamptz,
  primary key (tenant_id, webhook_id, seq),
  foreign key (tenant_id, webhook_id) references webhook_endpoints on delete cascade
);
create index webhook_waiting_due on webhook_waiting (tenant_id, webhook_id, retry_at);
create index webhook_waiting_by_room on webhook_waiting (tenant_id, webhook_id, room_uid, seq);

alter table webhook_deliveries add column gave_up boolean not null default false;

alter table webhook_deliveries drop constraint webhook_deliveries_kind_check;
alter table webhook_deliveries add constraint webhook_deliveries_kind_check
  check (kind in ('event', 'aside', 'test', 'resend')) not valid;
