-- How many alerts of each budget were told on a day (UTC). A budget that is deleted and made again goes on counting.
create table budget_alerts (
  tenant_id bigint not null,
  day       date not null,
  budget    text not null,
  told      integer not null,
  primary key (tenant_id, day, budget)
) with (fillfactor = 70);
