-- Limits per tenant: what an operator changed, and places under the limits.

-- The limits that an operator changed for one tenant, by name; null: none, as for nearly every tenant.
alter table tenants
  add column limits jsonb,
  add constraint tenants_limits check (
    jsonb_typeof(limits) = 'object' and limits <> '{}'
    and not limits @? 'strict $.* ? (@.type() != "number" || @ < 1 || @ > 1000000 || @.floor() != @)');

-- One row for each change of a limit by an operator. `null`: the limit that every tenant of the status has.
create table tenant_limit_changes (
  tenant_id  bigint not null references tenants,
  at         timestamptz not null default clock_timestamp(),
  limit_name text not null,
  old_value  integer,
  new_value  integer,
  reason     text,
  primary key (tenant_id, limit_name, at)
);

-- How many more of something a tenant may surely create under its limit before they must be counted again. Only
-- creations write it: what ends, expires or is revoked is found by the next count. So `free` is never more than the
-- places that are free, and no creation counts thousands of rows. It is valid for the limit `max` alone.
create table tenant_places (
  tenant_id  bigint not null references tenants,
  limit_name text not null,
  max        integer not null,
  free       integer not null check (free >= 0),
  primary key (tenant_id, limit_name)
) with (fillfactor = 50);

-- For counting keys and credentials in use, and those that are retiring, beside any number of revoked ones.
create index api_keys_working on api_keys (tenant_id, retires_at) where revoked_at is null;
create index device_credentials_working on device_credentials (tenant_id, retires_at) where revoked_at is null;
-- For reading them a page at a time.
create index device_credentials_by_age on device_credentials (tenant_id, created_at, id);
