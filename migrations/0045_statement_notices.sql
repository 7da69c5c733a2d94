-- Up to which month a tenant was told that its statement is ready.
create table statement_notices (
  tenant_id bigint primary key,
  month     date not null check (month = date_trunc('month', month))
);

-- Months that were over before are not told.
insert into statement_notices (tenant_id, month)
select tenant_id, (date_trunc('month', now() at time zone 'UTC') - interval '1 month')::date from accounts;
