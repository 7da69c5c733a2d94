-- Tables that are distributed over several servers have no triggers (src/run/distribution). There, a role that owns
-- nothing is kept from changing what is append-only by its rights alone, so these rights no longer depend on the
-- trigger: tables that are append-only are named.
create or replace function grant_table_rights(application name) returns void language plpgsql as $$
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
                     when c.relname in ('tenant_status_changes', 'postings', 'usage_records', 'rate_cards',
                                        'moderation_events', 'audit_entries')
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
