-- A webhook chooses its order: that of the tenant's log, that of each room, or none. See src/outward/webhooks/webhook.ts.
alter table webhook_endpoints
  add column ordering       text not null default 'tenant' check (ordering in ('tenant', 'room', 'none')),
  -- Requests at once, in an order other than the tenant's.
  add column max_in_flight  integer not null default 10 check (max_in_flight between 1 and 20),
  -- Null: as fast as it accepts them.
  add column max_per_second integer check (max_per_second >= 1);

alter table webhook_cursors
  -- When the first of the events that were put aside is due. Null: there are none.
  add column aside_at     timestamptz,
  -- When it accepted an event last.
  add column delivered_at timestamptz;

-- Events that were put aside: each is sent by itself, while the cursor has moved past it.
create table webhook_waiting (
  tenant_id  bigint not null,
  webhook_id text not null,
  seq        bigint not null,
  -- Events of one room keep their order. Empty: events without a room, which keep theirs.
  room_uid   text not null,
  -- Its failed attempts, and when the first one had failed.
  failures   integer not null default 0 check (failures >= 0),
  failed_at  timestamptz,
  -- Null: it waits for the one before it in its room.
  retry_at   timestamptz,
  primary key (tenant_id, webhook_id, seq),
  foreign key (tenant_id, webhook_id) references webhook_endpoints on delete cascade
);
create index webhook_waiting_due on webhook_waiting (tenant_id, webhook_id, retry_at);
create index webhook_waiting_by_room on webhook_waiting (tenant_id, webhook_id, room_uid, seq);

-- The event is not sent again, because it was refused too often.
alter table webhook_deliveries add column gave_up boolean not null default false;

-- `aside`: an event that was put aside. Without a scan under a lock: each kind that was allowed still is.
alter table webhook_deliveries drop constraint webhook_deliveries_kind_check;
alter table webhook_deliveries add constraint webhook_deliveries_kind_check
  check (kind in ('event', 'aside', 'test', 'resend')) not valid;
