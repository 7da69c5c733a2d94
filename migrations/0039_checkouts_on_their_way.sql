-- Pages show which payments the bank is still working on.
create index checkouts_on_their_way on checkouts (tenant_id, created_at) where state = 'processing';
