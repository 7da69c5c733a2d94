-- The time zone in which the days and months of a tenant begin. Each change is a row. A tenant without one has those of UTC.
create table time_zones (
  tenant_id bigint not null,
  seq       bigint not null check (seq > 0),
  at        timestamptz not null default clock_timestamp(),
  name      text not null check (char_length(name) between 1 and 64),
  -- The first month that ends in it.
  month     date not null check (month = date_trunc('month', month)),
  primary key (tenant_id, seq)
);
create trigger append_only before update or delete or truncate on time_zones
  for each statement execute function refuse_change();

-- When months of such a tenant ended, by the rules of zones of that time. An update may correct the rules, and does not move these.
create table month_ends (
  tenant_id bigint not null,
  month     date not null check (month = date_trunc('month', month)),
  at        timestamptz not null,
  primary key (tenant_id, month)
);
create trigger append_only before update or delete or truncate on month_ends
  for each statement execute function refuse_change();

-- The sums of a tenant that has set a time zone are those of quarter-hours: midnight may be at 18:15 UTC. Rows of before are valid.
alter table usage_hours drop constraint usage_hours_hour_check;
alter table usage_hours add constraint usage_hours_hour_check
  check (hour = date_bin('15 minutes', hour, 'epoch')) not valid;
alter table usage_room_hours drop constraint usage_hours_hour_check;
alter table usage_room_hours add constraint usage_hours_hour_check
  check (hour = date_bin('15 minutes', hour, 'epoch')) not valid;
