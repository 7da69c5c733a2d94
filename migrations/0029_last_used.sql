-- When each API key and device credential was last used, to the minute. Apart from their own rows: authentication reads
-- those for each request, and a stamp each minute would leave dead versions of them behind.
create table last_uses (
  -- Without a reference: a stamp waits for nobody who changes the tenant.
  tenant_id bigint not null,
  kind      text not null check (kind in ('key', 'device')),
  -- Of the key or the credential.
  id        text not null,
  at        timestamptz not null,
  primary key (tenant_id, kind, id)
) with (fillfactor = 70);
