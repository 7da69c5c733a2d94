-- What the archive promises of the records in it, the database holds as for rows. Where tables are distributed, they have no triggers:
-- there, the rights below hold, and `verify` finds the rest.

-- A chunk whose end does not move keeps its records. Their names change while an erasure of the tenant is under way.
create function refuse_other_records() returns trigger language plpgsql as $$
begin
  if (new.records, new.numbers, new.ids) is distinct from (old.records, old.numbers, old.ids)
     or (new.names <> old.names and not exists (
           select from erasures e where e.tenant_id = new.tenant_id and e.state = 'pending')) then
    raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

-- An account is archived up to the end of its newest chunk. Chunks never end earlier, so it never goes back.
create function refuse_other_end() returns trigger language plpgsql as $$
begin
  if new.archived_seq is distinct from (select max(c.last_seq) from record_chunks c where c.tenant_id = new.tenant_id) then
    raise exception '%.archived_seq is append-only', tg_table_name using errcode = 'restrict_violation';
  end if;
  return null;
end $$;

-- Known ids are merged: a run goes in the transaction that writes one with at least as many entries, and as new ones.
create function refuse_lost_run() returns trigger language plpgsql as $$
begin
  if not exists (select from known_id_runs r
                  where r.tenant_id = old.tenant_id and r.entries >= old.entries and r.last_seq >= old.last_seq
                    and r.xmin = pg_current_xact_id()::xid) then
    raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
  end if;
  return old;
end $$;

-- Pages go after their run.
create function refuse_lost_page() returns trigger language plpgsql as $$
begin
  if exists (select from known_id_runs r where r.tenant_id = old.tenant_id and r.run = old.run) then
    raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
  end if;
  return old;
end $$;

if exists (select from pg_trigger where tgrelid = 'record_chunks'::regclass and tgname = 'never_smaller') then
  create trigger same_records before update of records, numbers, ids, names on record_chunks for each row
    when (new.last_seq = old.last_seq) execute function refuse_other_records();
  -- After the change, as foreign keys are, so that other changes of accounts do not get dearer.
  create trigger end_of_archive after update of archived_seq on accounts for each row
    when (new.archived_seq <> old.archived_seq) execute function refuse_other_end();
  create trigger never_changed before update or truncate on known_id_runs
    for each statement execute function refuse_change();
  create trigger only_merged before delete on known_id_runs for each row execute function refuse_lost_run();
  create trigger never_changed before update or truncate on known_id_pages
    for each statement execute function refuse_change();
  create trigger only_merged before delete on known_id_pages for each row execute function refuse_lost_page();
end if;

-- As in 0060, without the right to change known ids.
create or replace function rights_on_table(given oid) returns text language sql stable as $$
  select case
    when c.relname = 'migrations' then 'SELECT'
    when c.relname in ('known_id_runs', 'known_id_pages') then 'SELECT,INSERT,DELETE'
    when c.relname in ('tenant_status_changes', 'postings', 'usage_records', 'rate_cards', 'moderation_events',
                       'audit_entries', 'corrections')
      or exists (select from pg_trigger where tgrelid = c.oid and tgname = 'append_only')
      then 'SELECT,INSERT'
    when c.relname = 'events' then 'SELECT,INSERT,DELETE'
    when c.relname in ('tenants', 'accounts', 'payments', 'refunds', 'disputes', 'fraud_warnings', 'grants', 'record_chunks')
      then 'SELECT,INSERT,UPDATE'
    else 'SELECT,INSERT,UPDATE,DELETE' end
    from pg_class c where c.oid = given
$$;
