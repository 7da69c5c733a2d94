-- Mail to tenants: alerts and receipts.

-- Who gets mail besides the address given at signup. A tenant without a row has the defaults.
create table mail_settings (
  tenant_id      bigint primary key references tenants,
  -- Whether the address given at signup gets mail.
  signup_address boolean not null default true,
  addresses      text[] not null default '{}' check (cardinality(addresses) <= 5),
  alerts         boolean not null default true,
  receipts       boolean not null default true
);

-- Addresses, in lower case, whose owners want no alerts of this tenant.
create table mail_unsubscribes (
  tenant_id bigint not null references tenants,
  address   text not null check (address = lower(address)),
  at        timestamptz not null default now(),
  primary key (tenant_id, address)
);

-- One row for each event and address. The text is made from the event when the mail is sent or shown.
create table mails (
  id          text primary key check (id ~ '^mail_[0-9a-f]{32}$'),
  tenant_id   bigint not null references tenants,
  address     text not null,
  kind        text not null check (kind in ('alert', 'receipt')),
  -- The event that it tells about.
  event_seq   bigint not null,
  event_type  text not null,
  event_at    timestamptz not null,
  subject     jsonb not null,
  -- The last alert that this address gets on this day.
  is_last     boolean not null default false,
  -- `kept`: no mail server was configured. `suppressed`: held back by the limit of a day.
  state       text not null default 'waiting' check (state in ('waiting', 'sent', 'failed', 'kept', 'suppressed')),
  attempts    integer not null default 0 check (attempts >= 0),
  -- While a process sends it, when another one may take over; otherwise when it is sent next.
  next_at     timestamptz not null default now(),
  -- Why the last attempt failed.
  error       text,
  created_at  timestamptz not null default now(),
  finished_at timestamptz,
  check ((state = 'waiting') = (finished_at is null))
) with (fillfactor = 70);
create unique index mails_once on mails (tenant_id, event_seq, address);
create index mails_of_day on mails (tenant_id, created_at);
create index mails_waiting on mails (next_at) where state = 'waiting';
create index mails_by_age on mails (created_at);
