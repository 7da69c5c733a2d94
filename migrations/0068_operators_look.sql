-- What operators look at: each look at a page of a tenant stands in its audit trail once an hour, however often the page is loaded.
create unique index operator_reads_once on audit_entries
  (tenant_id, actor_id, subject, date_trunc('hour', at at time zone 'UTC')) where action = 'operator_read';
