-- How often each API key was used, hour by hour, and from where last: what its page in the console shows. Nothing is decided by them.
create table key_use_hours (
  -- Without a reference, as of last_uses.
  tenant_id bigint not null,
  key_id    text not null,
  hour      timestamptz not null,
  uses      bigint not null check (uses > 0),
  primary key (tenant_id, key_id, hour)
) with (fillfactor = 70);
create index key_use_hours_by_age on key_use_hours (hour);

-- Null: a use of before this column.
alter table last_uses add column address text;
