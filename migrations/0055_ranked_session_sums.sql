-- The most expensive participants, keys and customers of a month, without reading all of them.
create index session_sums_by_amount on session_sums (tenant_id, kind, start, amount desc, unbilled desc, name) where part = 'm';
