-- Events of every wing, and listeners that follow them.

-- The log stores types as data: a new type of event needs no migration.
alter table events drop constraint events_type_check,
  add constraint events_type check (type ~ '^[a-z][a-z_]{0,62}$');
alter table unnumbered_events drop constraint unnumbered_events_type_check,
  add constraint unnumbered_events_type check (type ~ '^[a-z][a-z_]{0,62}$'),
  -- Whether relays have to refuse something from this event on, or to stop refusing it.
  add column revokes boolean not null default false;

-- What listens to the log, and to which types of events.
create table event_listeners (
  name  text primary key,
  types text[] not null
);

-- Work for a listener: events of a tenant up to `seq` wait for it. The statement that numbers the events
-- inserts the row, so that it waits for no listener.
create table event_turns (
  listener  text not null,
  tenant_id bigint not null,
  seq       bigint not null,
  -- The newest number before those events.
  after_seq bigint not null,
  at        timestamptz not null default clock_timestamp(),
  primary key (listener, tenant_id, seq)
);

-- How far a listener has come with a tenant. The row is locked during a turn, so that one process takes it.
create table event_cursors (
  listener  text not null,
  tenant_id bigint not null,
  seq       bigint not null,
  -- Turns that failed since the last one that did not, and when the next one may begin.
  failures  integer not null default 0,
  retry_at  timestamptz,
  primary key (listener, tenant_id)
) with (fillfactor = 50);
