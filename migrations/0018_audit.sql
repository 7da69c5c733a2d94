-- Who changed what: one row for each change of keys, settings, status and whatever else a tenant or an operator
-- administers, written in the transaction of the change.
create table audit_entries (
  -- The order of the trail. Transactions that overlap may commit in another order, so numbers may be missing.
  seq        bigint generated always as identity primary key,
  id         text not null unique,
  -- Null: a change of the whole service, such as its rate card.
  tenant_id  bigint references tenants,
  at         timestamptz not null default clock_timestamp(),
  actor_kind text not null check (actor_kind in ('key', 'operator', 'system')),
  -- The id of the API key, the operator's login, or the part of the service.
  actor_id   text not null,
  -- The client's address, of API keys only. It becomes '(erased)' in the end (src/base/audit/audit-entry.ts).
  address    text,
  action     text not null check (action ~ '^[a-z]+(_[a-z]+)*$'),
  subject    text,
  -- The fields that changed. Null: there was nothing before, or there is nothing after.
  before     jsonb check (jsonb_typeof(before) = 'object'),
  after      jsonb check (jsonb_typeof(after) = 'object'),
  check ((address is not null) = (actor_kind = 'key'))
);
create index audit_entries_of_tenant on audit_entries (tenant_id, seq);
create index audit_entries_with_address on audit_entries (at) where address <> '(erased)';

create trigger append_only before delete or truncate on audit_entries
  for each statement execute function refuse_change();
create trigger erasable before update on audit_entries
  for each row execute function refuse_change_but_erasure('address');

-- As before, with the right to erase addresses.
create or replace function grant_application_rights(application name) returns void language plpgsql as $$
declare
  each record;
begin
  perform grant_table_rights(application);
  for each in
    select * from (values ('usage_records', 'participant'), ('moderation_events', 'value'),
                          ('moderation_events', 'actor'), ('moderation_events', 'reason'),
                          ('events', 'subject'), ('audit_entries', 'address')) as named (in_table, in_column)
     where not has_column_privilege(application, format('%I', in_table), in_column, 'UPDATE')
  loop
    execute format('grant update (%I) on table %I to %I', each.in_column, each.in_table, application);
  end loop;
end $$;
