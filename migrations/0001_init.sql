-- Tenants, keys, ledger and payments.
--
-- In the tables that charging touches, `tenant_id` leads the primary key; no foreign key crosses tenants,
-- and time comes from the database. That keeps the schema distributable by tenant.
-- A tenant's id is the 64 bits behind the wire form `t_<16 hex>`; tenant_name() shows that form.
-- Money is in micros: millionths of a US dollar.

create function tenant_name(tenant_id bigint) returns text
  language sql immutable strict parallel safe
  return 't_' || lpad(to_hex(tenant_id), 16, '0');

create table tenants (
  id         bigint primary key,
  name       text not null check (char_length(name) between 1 and 200),
  email      text not null check (char_length(email) between 3 and 254),
  status     text not null default 'pending'
             check (status in ('pending', 'active', 'suspended', 'archived', 'deleted')),
  exempt     boolean not null default false,
  created_at timestamptz not null default now()
);

-- One row for each change of a status, so that a tenant's history can be told.
create table tenant_status_changes (
  tenant_id  bigint not null references tenants,
  at         timestamptz not null default clock_timestamp(),
  old_status text not null check (old_status in ('pending', 'active', 'suspended', 'archived', 'deleted')),
  new_status text not null check (new_status in ('pending', 'active', 'suspended', 'archived', 'deleted')),
  reason     text not null,
  primary key (tenant_id, at)
);

create table api_keys (
  id         text primary key check (id ~ '^[0-9a-f]{16}$'),
  tenant_id  bigint not null references tenants,
  name       text not null check (char_length(name) between 1 and 100),
  kind       text not null check (kind in ('backend', 'relay')),
  hash       bytea not null check (octet_length(hash) = 32),
  created_at timestamptz not null default now(),
  retires_at timestamptz,
  revoked_at timestamptz,
  -- What a token that is minted with the key may carry at most; in each list, null stands for all.
  ceiling_capabilities     text[],
  ceiling_roles            text[],
  ceiling_rooms            text[] check (cardinality(ceiling_rooms) > 0),
  ceiling_rank             integer not null default 80 check (ceiling_rank between 0 and 99),
  ceiling_lifetime_seconds integer not null default 900 check (ceiling_lifetime_seconds between 1 and 900)
);
create index api_keys_of_tenant on api_keys (tenant_id, created_at);

-- Rate cards are versions that never change; the newest one prices what is reported now.
create table rate_cards (
  version      integer primary key check (version > 0),
  effective_at timestamptz not null default now(),
  card         jsonb not null
);

-- The row that every charge of a tenant locks. It is updated all the time: half of each page is
-- left free, so that updates stay on their page and touch no index.
create table accounts (
  tenant_id bigint primary key references tenants,
  balance   bigint not null default 0,
  -- What rounding still owes, over 2^30 x 1875 (pricing/usage-price.ts). It starts at one half.
  carry     bigint not null default 1006632960000 check (carry >= 0 and carry < 2013265920000),
  -- The newest posting; null before the first one.
  last_seq  bigint,
  check (last_seq is not null or balance = 0)
) with (fillfactor = 50);

-- One row for each change of a balance. A usage posting stands for a whole batch: what the batch
-- shares is here, what differs is in usage_records. `unbilled` postings hold the records of exempt
-- tenants and move nothing.
--
-- The chain is kept by the database: each posting starts from the balance that its predecessor
-- left (postings_chain), and an account shows the balance of its newest posting (accounts_newest).
create table postings (
  tenant_id      bigint not null references accounts,
  seq            bigint not null check (seq > 0),
  previous_seq   bigint generated always as (nullif(seq - 1, 0)) stored,
  kind           text not null check (kind in
                 ('usage', 'unbilled', 'top_up', 'auto_top_up', 'refund', 'dispute', 'adjustment')),
  balance_before bigint not null,
  amount         bigint not null,
  balance        bigint not null check (balance = balance_before + amount),
  at             timestamptz not null default clock_timestamp(),
  rate_version   integer references rate_cards,
  carry          bigint,
  records        integer check (records > 0),
  -- The newest ids of the batch, at most 50, newest first: all that a list of recent entries needs.
  newest_ids     text[] check (cardinality(newest_ids) between 1 and 50),
  reference      text,
  detail         text,
  payment_id     text,
  primary key (tenant_id, seq),
  unique (tenant_id, seq, balance),
  constraint postings_chain foreign key (tenant_id, previous_seq, balance_before)
    references postings (tenant_id, seq, balance),
  check (seq > 1 or balance_before = 0),
  check (kind <> 'usage' or amount <= 0),
  check (kind <> 'unbilled' or amount = 0),
  check (kind not in ('top_up', 'auto_top_up') or amount > 0),
  check ((kind in ('usage', 'unbilled'))
         = (num_nonnulls(rate_version, carry, records, newest_ids) = 4)),
  check ((kind in ('top_up', 'auto_top_up', 'refund', 'dispute')) = (payment_id is not null))
);
-- An adjustment may carry an id of the operator's own, so that asking twice adjusts once.
create unique index postings_adjusted on postings (tenant_id, reference)
  where kind = 'adjustment' and reference is not null;
create index postings_listed on postings (tenant_id, seq) where kind <> 'unbilled';

alter table accounts add constraint accounts_newest foreign key (tenant_id, last_seq, balance)
  references postings (tenant_id, seq, balance);

-- What relays reported: one row for each id that was ever accepted, kept for ever. Its primary key
-- is its only index, and the columns are ordered so that no byte is lost to alignment: this table
-- grows faster than all the others together. `amount` is what the record cost; for the records of
-- an unbilled posting, what it would have cost.
create table usage_records (
  tenant_id     bigint not null,
  posting_seq   bigint not null,
  egress_bytes  bigint not null check (egress_bytes >= 0),
  ingress_bytes bigint not null check (ingress_bytes >= 0),
  amount        bigint not null check (amount >= 0),
  seconds       integer not null check (seconds between 0 and 86400),
  line          smallint not null,
  role          "char" not null check (role in ('h', 'a', 'b')),
  tier          "char" not null check (tier in ('a', 'h', 'f', '2', 'k')),
  capped        boolean not null,
  id            text collate "C" not null,
  room          text,
  participant   text,
  primary key (tenant_id, id)
);

-- Ids that came again with other values. They were not charged; the newest such report is kept.
create table usage_conflicts (
  tenant_id bigint not null references tenants,
  id        text collate "C" not null,
  times     integer not null default 1,
  first_at  timestamptz not null default now(),
  last_at   timestamptz not null default now(),
  reported  jsonb not null,
  primary key (tenant_id, id)
);

-- A ledger is only ever added to, whoever is connected.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger append_only before update or delete or truncate on postings
  for each statement execute function refuse_change();
create trigger append_only before update or delete or truncate on usage_records
  for each statement execute function refuse_change();
create trigger append_only before update or delete or truncate on rate_cards
  for each statement execute function refuse_change();

-- What the service knows of a tenant at the payment provider, and its automatic top-up.
create table payment_settings (
  tenant_id          bigint primary key references tenants,
  customer_id        text unique,
  payment_method_id  text,
  card_fingerprint   text,
  first_paid_at      timestamptz,
  top_up_enabled     boolean not null default false,
  top_up_below       bigint not null default 0 check (top_up_below >= 0),
  top_up_amount      bigint not null default 0 check (top_up_amount >= 0),
  -- No automatic top-up before this time: back-off after a decline, or a velocity cap.
  top_up_paused_until timestamptz,
  -- Ids of the disputes and fraud warnings that stop automatic top-ups until they are cleared.
  frozen_by          text[] not null default '{}',
  last_top_up_error  text,
  check (payment_method_id is null or customer_id is not null),
  check (not top_up_enabled or top_up_amount > 0)
);

create table checkouts (
  id         text primary key,
  tenant_id  bigint not null references tenants,
  amount     bigint not null check (amount > 0),
  state      text not null default 'open' check (state in ('open', 'processing', 'paid', 'failed', 'expired')),
  session_id text unique,
  created_at timestamptz not null default now()
);

-- A payment that succeeded at the provider and was credited, once. The sum of what came back is
-- kept here; the ledger moves by the change of `reversed`.
create table payments (
  id          text primary key,
  tenant_id   bigint not null references tenants,
  kind        text not null check (kind in ('top_up', 'auto_top_up')),
  credited    bigint not null check (credited > 0),
  reversed    bigint not null default 0 check (reversed between 0 and credited),
  attempt_id  text unique,
  checkout_id text,
  card_fingerprint text,
  settled_at  timestamptz not null default clock_timestamp(),
  check ((kind = 'auto_top_up') = (attempt_id is not null)),
  check ((kind = 'top_up') = (checkout_id is not null))
);
create index payments_of_tenant on payments (tenant_id, settled_at);

-- Refunds and disputes are kept even before their payment is known: events come in any order.
create table refunds (
  id         text primary key,
  payment_id text not null,
  amount     bigint not null check (amount >= 0),
  status     text not null,
  final      boolean generated always as (status in ('failed', 'canceled')) stored
);
create index refunds_of_payment on refunds (payment_id);

create table disputes (
  id         text primary key,
  payment_id text not null,
  amount     bigint not null check (amount >= 0),
  withdrawn  boolean not null default false,
  reinstated boolean not null default false,
  outcome    text check (outcome in ('won', 'lost', 'closed'))
);
create index disputes_of_payment on disputes (payment_id);

create table fraud_warnings (
  id         text primary key,
  payment_id text not null,
  at         timestamptz not null default now()
);
create index fraud_warnings_of_payment on fraud_warnings (payment_id);

-- Every notification of the provider, stored with its effect in one transaction.
create table provider_events (
  id          text primary key,
  type        text not null,
  outcome     text not null check (outcome in ('processed', 'ignored', 'parked')),
  reason      text,
  received_at timestamptz not null default now()
);
create index provider_events_parked on provider_events (received_at) where outcome = 'parked';

-- How far the sweeper has read the provider's own list of events.
create table provider_cursor (
  only_row   boolean primary key default true check (only_row),
  swept_until timestamptz not null
);

create table top_up_attempts (
  id                text primary key,
  tenant_id         bigint not null references tenants,
  amount            bigint not null check (amount > 0),
  state             text not null default 'pending'
                    check (state in ('pending', 'unknown', 'succeeded', 'declined', 'canceled')),
  -- Fixed when the attempt is first sent: every repetition asks for exactly the same charge.
  customer_id       text,
  payment_method_id text,
  card_fingerprint  text,
  first_sent_at     timestamptz,
  sends             integer not null default 0,
  next_at           timestamptz not null default now(),
  payment_id        text,
  decline_code      text,
  error             text,
  created_at        timestamptz not null default now(),
  finished_at       timestamptz,
  check ((state in ('pending', 'unknown')) = (finished_at is null)),
  check (state <> 'unknown' or num_nonnulls(customer_id, payment_method_id, first_sent_at) = 3)
);
create unique index top_up_attempts_open on top_up_attempts (tenant_id) where state in ('pending', 'unknown');
create index top_up_attempts_due on top_up_attempts (next_at) where state in ('pending', 'unknown');
create index top_up_attempts_of_card on top_up_attempts (card_fingerprint, finished_at) where state = 'declined';

-- What declines have done to a card's standing, by its fingerprint: the same card attached anew is the same.
create table card_breakers (
  fingerprint   text primary key,
  declines      integer not null default 0,
  blocked_until timestamptz not null
);

-- The counters of rate-limiter-flexible. It subtracts milliseconds in `expire` as JavaScript numbers,
-- which is what double precision arrives as; the bigint of its own table arrives as something else.
create table rate_limits (
  key    text primary key,
  points integer not null default 0,
  expire double precision
);
