-- Forms that were sent when the log-in was not recent any more: what was typed, for the minutes until the person has logged in again.
create table kept_forms (
  -- Of the id, which the address of the page has. It opens nothing without the tenant and the owner.
  hash       bytea primary key check (octet_length(hash) = 32),
  -- Without a reference: it is over before the tenant could be deleted.
  tenant_id  bigint not null,
  -- The member, key or operator who typed it.
  owner      text not null,
  -- The page that has the form.
  path       text not null,
  sealed     bytea not null check (octet_length(sealed) <= 17000),
  expires_at timestamptz not null
);
create index kept_forms_of_owner on kept_forms (tenant_id, owner, expires_at);
create index kept_forms_by_end on kept_forms (expires_at);
