-- 0071_webhook_formats.sql where tables are distributed: Citus takes no new column with a check, but the check after it.
alter table webhook_endpoints
  add column format    text not null default 'boxoffice',
  add column max_batch integer not null default 1;
alter table webhook_endpoints
  add constraint webhook_endpoints_format_check check (format in ('boxoffice', 'cloudevents'));
alter table webhook_endpoints
  add constraint webhook_endpoints_max_batch_check check (max_batch between 1 and 100);

alter table webhook_deliveries
  add column format   text not null default 'boxoffice',
  add column batch_id text;
