-- Sums of usage by room, role and tier, of days, weeks and months. A month of a busy tenant has a million such sums by hour.

-- The columns that every reader skips through come first, and have a fixed length. Nothing is filled here: the job that rolls
-- up usage adds a day at a time, and readers read hours until it has come to them.
create table usage_detail_days (
  tenant_id     bigint not null references tenants,
  day           timestamptz not null check (day = date_trunc('day', day, 'UTC')),
  records       bigint not null check (records > 0),
  seconds       bigint not null check (seconds >= 0),
  role          "char" not null check (role in ('h', 'a', 'b')),
  tier          "char" not null check (tier in ('a', 'h', 'f', '2', 'k')),
  room          text collate "C" not null check (char_length(room) <= 200),
  egress_bytes  numeric not null check (egress_bytes >= 0),
  ingress_bytes numeric not null check (ingress_bytes >= 0),
  amount        numeric not null check (amount >= 0),
  unbilled      numeric not null check (unbilled >= 0),
  primary key (tenant_id, day, room, role, tier)
);

-- A week begins on Monday.
create table usage_detail_weeks (
  tenant_id     bigint not null references tenants,
  week          timestamptz not null check (week = date_trunc('week', week, 'UTC')),
  records       bigint not null check (records > 0),
  seconds       bigint not null check (seconds >= 0),
  role          "char" not null check (role in ('h', 'a', 'b')),
  tier          "char" not null check (tier in ('a', 'h', 'f', '2', 'k')),
  room          text collate "C" not null check (char_length(room) <= 200),
  egress_bytes  numeric not null check (egress_bytes >= 0),
  ingress_bytes numeric not null check (ingress_bytes >= 0),
  amount        numeric not null check (amount >= 0),
  unbilled      numeric not null check (unbilled >= 0),
  primary key (tenant_id, week, room, role, tier)
);

create table usage_detail_months (
  tenant_id     bigint not null references tenants,
  month         timestamptz not null check (month = date_trunc('month', month, 'UTC')),
  records       bigint not null check (records > 0),
  seconds       bigint not null check (seconds >= 0),
  role          "char" not null check (role in ('h', 'a', 'b')),
  tier          "char" not null check (tier in ('a', 'h', 'f', '2', 'k')),
  room          text collate "C" not null check (char_length(room) <= 200),
  egress_bytes  numeric not null check (egress_bytes >= 0),
  ingress_bytes numeric not null check (ingress_bytes >= 0),
  amount        numeric not null check (amount >= 0),
  unbilled      numeric not null check (unbilled >= 0),
  primary key (tenant_id, month, room, role, tier)
);

-- As `until`, for the tables above. The two go on by themselves: details of earlier days are added in the background.
alter table usage_rollups alter column until set default 'epoch';
alter table usage_rollups add column details_until timestamptz not null default 'epoch';
alter table usage_rollups add constraint usage_rollups_details_until_check
  check (details_until = date_trunc('day', details_until, 'UTC'));
