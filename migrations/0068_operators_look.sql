-- What operators look at: each look at a page of a tenant stands in its audit trail once an hour, however often the page is loaded.
create unique index operator_reads_once on audit_entries
  (tenant_id, actor_id, subject, date_trunc('hour', at at time zone 'UTC')) where action = 'operator_read';

-- Earlier names of tenants, so that statements of months that are over keep theirs.
create table tenant_name_changes (
  tenant_id bigint not null,
  at        timestamptz not null default clock_timestamp(),
  old_name  text not null check (char_length(old_name) between 1 and 200),
  new_name  text not null check (char_length(new_name) between 1 and 200),
  primary key (tenant_id, at)
);
create trigger append_only before update or delete or truncate on tenant_name_changes
  for each statement execute function refuse_change();

-- Operators search by ids alone, without a tenant. A hash takes a third of the bytes of the text.
create index webhook_endpoints_by_id on webhook_endpoints using hash (id);
create index sessions_by_id on sessions using hash (id);

-- What the overview of operators counts.
create index webhook_cursors_stopped on webhook_cursors (paused_at) where paused_by <> 'tenant';
create index mails_failed on mails (finished_at) where state in ('failed', 'expired');
