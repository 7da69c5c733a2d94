-- Sums of usage by room, of days and of weeks. A room of 30 days has hundreds of sums by hour, and at most 12 of these.

-- A day begins at midnight, UTC. The columns that every reader skips through come first, and have a fixed length.
create table usage_room_days (
  tenant_id     bigint not null references tenants,
  day           timestamptz not null check (day = date_trunc('day', day, 'UTC')),
  records       bigint not null check (records > 0),
  seconds       bigint not null check (seconds >= 0),
  room          text collate "C" not null check (char_length(room) <= 200),
  egress_bytes  numeric not null check (egress_bytes >= 0),
  ingress_bytes numeric not null check (ingress_bytes >= 0),
  amount        numeric not null check (amount >= 0),
  unbilled      numeric not null check (unbilled >= 0),
  -- Rooms are ranked by their amounts, from the index alone.
  primary key (tenant_id, day, room) include (amount)
);

-- A week begins on Monday.
create table usage_room_weeks (
  tenant_id     bigint not null references tenants,
  week          timestamptz not null check (week = date_trunc('week', week, 'UTC')),
  records       bigint not null check (records > 0),
  seconds       bigint not null check (seconds >= 0),
  room          text collate "C" not null check (char_length(room) <= 200),
  egress_bytes  numeric not null check (egress_bytes >= 0),
  ingress_bytes numeric not null check (ingress_bytes >= 0),
  amount        numeric not null check (amount >= 0),
  unbilled      numeric not null check (unbilled >= 0),
  primary key (tenant_id, week, room) include (amount)
);

-- Days are added up once, when they are over, and a week once all of its days are. `until` is the midnight up to which a
-- tenant has them: each day that ends by then, and each week. What is charged later for such a day is added to both.
create table usage_rollups (
  tenant_id bigint primary key references tenants,
  until     timestamptz not null check (until = date_trunc('day', until, 'UTC'))
);

insert into usage_rollups (tenant_id, until)
select distinct tenant_id, date_trunc('day', now(), 'UTC') from usage_hours;

insert into usage_room_days (tenant_id, day, room, records, seconds, egress_bytes, ingress_bytes, amount, unbilled)
select tenant_id, date_trunc('day', hour, 'UTC') as day, room, sum(records), sum(seconds), sum(egress_bytes),
       sum(ingress_bytes), sum(amount), sum(unbilled)
  from usage_room_hours where hour < date_trunc('day', now(), 'UTC')
 group by tenant_id, day, room order by tenant_id, day, room;

insert into usage_room_weeks (tenant_id, week, room, records, seconds, egress_bytes, ingress_bytes, amount, unbilled)
select tenant_id, date_trunc('week', day, 'UTC') as week, room, sum(records), sum(seconds), sum(egress_bytes),
       sum(ingress_bytes), sum(amount), sum(unbilled)
  from usage_room_days where day < date_trunc('week', now(), 'UTC')
 group by tenant_id, week, room order by tenant_id, week, room;
