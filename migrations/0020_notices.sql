-- The saved card as its holder knows it. `card_ends_on` is the first day on which it no longer pays. As long as it is null,
-- the provider is asked about the card, at `card_look_at` or at once; the rows from before this migration begin that way.
alter table payment_settings
  add column card_brand text,
  add column card_last4 text,
  add column card_ends_on date,
  add column card_look_at timestamptz,
  add constraint payment_settings_card check (num_nulls(card_brand, card_last4, card_ends_on) in (0, 3));
create index payment_settings_unknown_cards on payment_settings (card_look_at)
  where payment_method_id is not null and card_ends_on is null;
create index payment_settings_ending_cards on payment_settings (card_ends_on)
  where top_up_enabled and payment_method_id is not null;

-- The cards of which `card_expiring` told a tenant, each once for each end.
create table card_notices (
  tenant_id bigint not null references tenants,
  -- The fingerprint of the card; without one, the provider's id.
  card      text not null,
  ends_on   date not null,
  told_at   timestamptz not null default now(),
  primary key (tenant_id, card, ends_on)
);

-- Conflicting reports of a tenant since the last `conflicting_duplicates`: how many, when the first one came, and
-- their first ids.
create table conflict_notices (
  tenant_id bigint primary key references tenants,
  told_at   timestamptz,
  reports   bigint not null default 0 check (reports >= 0),
  first_at  timestamptz,
  ids       text[] not null default '{}',
  check ((reports = 0) = (first_at is null))
);
create index conflict_notices_waiting on conflict_notices (told_at) where reports > 0;

-- When `key_retiring` is due for a replaced key; null: it was told, or is not needed.
alter table api_keys add column retirement_notice_at timestamptz;
alter table device_credentials add column retirement_notice_at timestamptz;
update api_keys set retirement_notice_at = retires_at - interval '6 hours' where retires_at > now();
update device_credentials set retirement_notice_at = retires_at - interval '6 hours' where retires_at > now();
create index api_keys_retiring on api_keys (retirement_notice_at) where revoked_at is null;
create index device_credentials_retiring on device_credentials (retirement_notice_at) where revoked_at is null;

-- Whether `payment_disputed` was told, and of which outcome `payment_dispute_closed` told. What was known before this
-- migration is not told.
alter table disputes
  add column reason text,
  add column inquiry boolean not null default false,
  add column told boolean not null default true,
  add column outcome_told text;
update disputes set outcome_told = outcome where outcome is not null;
alter table disputes alter column told set default false;
alter table fraud_warnings
  add column reason text,
  add column told boolean not null default true;
alter table fraud_warnings alter column told set default false;
