-- Parked notifications: which payment they are about, and those that failed and are tried again.

-- `failing`: its effect failed and was rolled back; the sweeper tries it again, and parks it in the end.
alter table provider_events
  drop constraint provider_events_outcome_check,
  add constraint provider_events_outcome_check check (outcome in ('processed', 'ignored', 'parked', 'failing')),
  -- A payment that was made and is not credited here, and the tenant that its metadata names, if it exists.
  add column payment_id text,
  add column tenant_id bigint references tenants,
  -- How often the sweeper failed to apply it, and when it last counted that.
  add column tries integer not null default 0 check (tries >= 0),
  add column tried_at timestamptz,
  add check (outcome <> 'failing' or (tries > 0 and tried_at is not null)),
  add check (tenant_id is null or payment_id is not null);

drop index provider_events_parked;
create index provider_events_open on provider_events (received_at) where outcome in ('parked', 'failing');
create index provider_events_of_payment on provider_events (payment_id) where outcome = 'parked';

-- Payments of the tenant that are parked. While there are any, no automatic top-up runs.
alter table payment_settings add column parked_payments text[] not null default '{}';

-- The sweeper's place used to be the clock of a process, which may have been ahead of the provider's. Read a day
-- again, once: events that were handled are skipped.
update provider_cursor set swept_until = least(swept_until, now()) - interval '1 day';
