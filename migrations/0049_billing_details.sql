-- Name, address and tax id of a tenant, as its statements show them. Each change is a row, so that the statement of a month that is
-- over keeps those that held then.
create table billing_details (
  tenant_id bigint not null,
  seq       bigint not null check (seq > 0),
  -- From then on they hold.
  at        timestamptz not null default clock_timestamp(),
  name      text check (char_length(name) between 1 and 200),
  address   text[] not null check (cardinality(address) <= 6),
  tax_id    text check (char_length(tax_id) between 1 and 50),
  primary key (tenant_id, seq)
);
create trigger append_only before update or delete or truncate on billing_details
  for each statement execute function refuse_change();
