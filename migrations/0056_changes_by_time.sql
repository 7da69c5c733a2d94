-- However often a tenant changes these, each look reads one row, or one for each month.
create index billing_details_by_time on billing_details (tenant_id, at, seq);
create index time_zones_of_month on time_zones (tenant_id, month, seq);
create index time_zones_first on time_zones (tenant_id) where seq = 1;
