-- The limits that an operator changed for one tenant, by name; null: none, as for nearly every tenant.
alter table tenants
  add column limits jsonb check (jsonb_typeof(limits) = 'object');
