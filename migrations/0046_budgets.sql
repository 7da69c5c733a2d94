-- Budgets: what a tenant wants to spend at most by a key, in rooms, for a customer or altogether, in a day, a month or in all.

-- Admission reads it beside the tenant's status: without budgets, nothing else is asked.
alter table tenants add column has_budgets boolean not null default false;

-- As given with the mint of the newest token.
alter table admissions add column customer text check (char_length(customer) between 1 and 128);

create table budgets (
  tenant_id    bigint not null references tenants,
  id           text not null check (id ~ '^[a-z0-9][a-z0-9_-]{0,63}$'),
  -- A budget that is deleted and made again has another, so that holds tell the two apart.
  uid          text not null,
  -- What it is of: all that are given. Without any, the whole tenant.
  key_id       text check (key_id ~ '^[0-9a-f]{16}$'),
  -- A name or a pattern.
  room         text check (room ~ '^[A-Za-z0-9*][A-Za-z0-9._*-]{0,127}$'),
  customer     text check (char_length(customer) between 1 and 128),
  period       text not null check (period in ('day', 'month', 'total')),
  -- Amounts are in micros.
  max          bigint not null check (max between 0 and 9007199254740991),
  hard         boolean not null,
  -- The percentages of `max` at which an event tells.
  shares       smallint[] not null,
  -- Of the period that began at period_start. Records that come although the budget is spent are part of it.
  spent        bigint not null default 0 check (spent >= 0),
  -- What tokens that run may still cost.
  held         bigint not null default 0 check (held >= 0),
  -- Of a hard budget: what further tokens may cost. An admission takes from it, and this is what refuses it.
  free         bigint constraint budgets_free check (free >= 0),
  period_start timestamptz not null,
  -- The highest of `shares` that this period was told of.
  told         smallint not null default 0,
  created_at   timestamptz not null default now(),
  primary key (tenant_id, id),
  check (hard = (free is not null)),
  check (free = greatest(max - spent - held, 0))
) with (fillfactor = 70);
create index budgets_by_time on budgets (created_at);

-- What the tokens of a device may still cost. A row lives until its last token has expired and the grace time is over.
create table budget_holds (
  tenant_id bigint not null references tenants,
  -- Names, as relays report them.
  room      text not null,
  username  text not null,
  device    text not null,
  -- Of the newest token.
  key_id    text not null,
  customer  text,
  -- Micros for a thousand participant-minutes.
  rate      bigint not null check (rate >= 0),
  -- Time for which no usage has been charged yet.
  seconds   integer not null check (seconds >= 0),
  until     timestamptz not null,
  -- The uids of the budgets whose `held` this is part of.
  budgets   text[] not null,
  primary key (tenant_id, room, username, device)
) with (fillfactor = 70);
create index budget_holds_over on budget_holds (until);
create index budget_holds_of_tenant on budget_holds (tenant_id, until);
