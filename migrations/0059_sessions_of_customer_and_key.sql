-- Sessions by key and customer, without reading all of a busy customer. Sessions without a customer are not part of it.
create index sessions_of_customer_and_key on sessions (tenant_id, customer, key_id, entered_at, id) where customer is not null;
