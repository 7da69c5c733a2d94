-- Thresholds of a tenant: it is alerted when its balance falls below an amount of credit, or below what lasts some hours.

create table alert_thresholds (
  tenant_id   bigint not null references tenants,
  kind        text not null check (kind in ('balance', 'runway')),
  -- Micros of credit, or hours that the credit lasts.
  below       bigint not null check (below >= 0),
  -- For hours: micros that usage took in an hour when it was last measured.
  burn        bigint check (burn >= 0),
  -- When usage was last measured, by any process.
  measured_at timestamptz,
  -- Since when the balance is below the floor.
  raised_at   timestamptz,
  -- A balance below the floor raises the alert. Null: no balance does, because nothing is used.
  floor       bigint generated always as (
    case kind when 'balance' then below
              else nullif(least(burn::numeric * below, 4000000000000000000), 0)::bigint end) stored,
  -- A balance of at least this much ends the alert. The burn moves all the time, so hours need a tenth more.
  recover_from  bigint generated always as (
    case kind when 'balance' then below
              else nullif(least(ceil(burn::numeric * below * 1.1), 4400000000000000000), 0)::bigint end) stored,
  primary key (tenant_id, kind, below),
  check ((kind = 'runway') = (burn is not null)),
  check ((kind = 'runway') = (measured_at is not null)),
  check (kind = 'balance' or below between 1 and 8760)
) with (fillfactor = 80);
create index alert_thresholds_to_measure on alert_thresholds (measured_at) where kind = 'runway';
