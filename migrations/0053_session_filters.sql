-- Sessions by room and key, by customer, and by room and customer: each without reading all of a busy key or room.
create index sessions_of_key_in_room on sessions (tenant_id, room, key_id, entered_at, id);
create index sessions_of_customer on sessions (tenant_id, customer, entered_at, id) where customer is not null;
create index sessions_of_customer_in_room on sessions (tenant_id, room, customer, entered_at, id) where customer is not null;
