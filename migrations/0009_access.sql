-- Banned ranges of addresses are hashed in the revocation feed, which anyone may read. There are few enough ranges
-- to try them all, so each tenant has a secret that is hashed with them. Tokens carry it to relays.
-- The default is computed for each row, so each tenant has another one: 122 random bits.
alter table tenants
  add column range_salt text not null default replace(gen_random_uuid()::text, '-', '')
    check (range_salt ~ '^[0-9a-f]{32}$');

-- The second line of defence: the service can run as a role that owns nothing. This function gives such a role
-- what the service needs, on the tables that exist now. The service calls it after its migrations, as the owner.
-- Append-only tables are those with the trigger of that name: the role cannot change or empty them, nor disable the
-- trigger. Nothing is done for a table that is right already.
create function grant_application_rights(application name) returns void language plpgsql as $$
declare
  every constant text[] := '{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}';
  each record;
begin
  if pg_has_role(application, current_user, 'member') then
    raise exception 'role % is the owner, a member of it, or a superuser', application;
  end if;
  execute format('grant usage on schema %I to %I', current_schema(), application);
  for each in
    select t.name, t.rights
      from (select c.oid, c.relname as name, string_to_array(case
                     when c.relname = 'migrations' then 'SELECT'
                     when c.relname = 'tenant_status_changes'
                       or exists (select from pg_trigger where tgrelid = c.oid and tgname = 'append_only')
                       then 'SELECT,INSERT'
                     when c.relname = 'events' then 'SELECT,INSERT,DELETE'
                     when c.relname in ('tenants', 'accounts', 'payments', 'refunds', 'disputes', 'fraud_warnings')
                       then 'SELECT,INSERT,UPDATE'
                     else 'SELECT,INSERT,UPDATE,DELETE' end, ',') as rights
              from pg_class c
             where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')) t
     where exists (select from unnest(every) as u (one)
                    where has_table_privilege(application, t.oid, one) <> (one = any (t.rights)))
     order by t.name
  loop
    execute format('revoke all on table %I from %I', each.name, application);
    execute format('grant %s on table %I to %I', array_to_string(each.rights, ', '), each.name, application);
    if exists (select from unnest(every) as u (one)
                where has_table_privilege(application, format('%I', each.name), one) <> (one = any (each.rights))) then
      raise exception 'role % has rights on % by another role', application, each.name;
    end if;
  end loop;
end $$;
revoke execute on function grant_application_rights(name) from public;
