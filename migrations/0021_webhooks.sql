-- Webhooks: endpoints of tenants that get the tenant's events, each in order and at its own pace.

create table webhook_endpoints (
  tenant_id   bigint not null references tenants,
  id          text not null,
  url         text not null check (char_length(url) between 1 and 2048),
  -- None: all of them.
  types       text[] not null default '{}',
  description text not null default '' check (char_length(description) <= 200),
  -- Grows with each change, so that a delivery in progress notices it.
  version     integer not null default 1,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, id)
);

-- Sealed with SECRETS_KEY: the keys that sign what an endpoint gets. After a rotation, the old ones sign too for a while.
create table webhook_secrets (
  tenant_id  bigint not null,
  webhook_id text not null,
  number     integer not null check (number > 0),
  sealed     bytea not null,
  created_at timestamptz not null default now(),
  -- Null: the newest one.
  retires_at timestamptz,
  primary key (tenant_id, webhook_id, number),
  foreign key (tenant_id, webhook_id) references webhook_endpoints on delete cascade
);

-- How far each endpoint is in its tenant's log, and who delivers to it. Apart from the endpoint, because every delivery
-- writes it.
create table webhook_cursors (
  tenant_id    bigint not null,
  webhook_id   text not null,
  -- Everything up to this event is delivered, or not wanted.
  seq          bigint not null check (seq >= 0),
  -- Events after the last delivered one that were deleted before they could be delivered. The next delivery tells it.
  skipped      bigint not null default 0 check (skipped >= 0),
  -- Null: it gets events.
  paused_by    text check (paused_by in ('tenant', 'failing', 'gone')),
  paused_at    timestamptz,
  -- Failed attempts of the next event, and when the next attempt is due.
  failures     integer not null default 0 check (failures >= 0),
  retry_at     timestamptz,
  -- The process that delivers has the lease. In the past: nobody delivers, and this is when the last turn ended.
  lease        text,
  leased_until timestamptz,
  primary key (tenant_id, webhook_id),
  foreign key (tenant_id, webhook_id) references webhook_endpoints on delete cascade,
  check ((paused_by is null) = (paused_at is null))
) with (fillfactor = 50);

-- Each attempt, for some days.
create table webhook_deliveries (
  tenant_id  bigint not null,
  webhook_id text not null,
  id         bigint generated always as identity,
  kind       text not null check (kind in ('event', 'test', 'resend')),
  event_id   text not null,
  -- Null: a test.
  seq        bigint,
  type       text not null,
  attempt    integer not null check (attempt > 0),
  at         timestamptz not null default clock_timestamp(),
  latency_ms integer not null check (latency_ms >= 0),
  -- Null: there was no answer, and `error` says why.
  status     integer,
  error      text,
  answer     text,
  primary key (tenant_id, webhook_id, id),
  check ((status is null) = (error is not null))
);
create index webhook_deliveries_by_age on webhook_deliveries (at);
