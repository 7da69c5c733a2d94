-- The archive of usage records: the records of some postings of a tenant, one after the other, as compressed columns
-- (src/money/records/chunks). A tenant's records up to its newest chunk are read from chunks, all later ones from rows.
create table record_chunks (
  tenant_id bigint not null references accounts,
  number    integer not null check (number > 0),
  first_seq bigint not null check (first_seq > 0),
  last_seq  bigint not null check (last_seq >= first_seq),
  records   integer not null check (records > 0),
  numbers   bytea not null,
  ids       bytea not null,
  names     bytea not null,
  -- Whether some of its records may still be rows as well.
  has_rows  boolean not null default true,
  primary key (tenant_id, number)
);
-- Compressed already.
alter table record_chunks alter numbers set storage external, alter ids set storage external,
  alter names set storage external;
create unique index record_chunks_by_seq on record_chunks (tenant_id, last_seq);
create index record_chunks_with_rows on record_chunks (tenant_id) where has_rows;

-- The last posting whose records are in chunks; 0: none are. Each charge reads it with the row that it locks.
alter table accounts add column archived_seq bigint not null default 0;

-- A chunk may grow at its end, and lose names. It never loses records.
create function refuse_smaller_chunk() returns trigger language plpgsql as $$
begin
  if (new.tenant_id, new.number, new.first_seq) <> (old.tenant_id, old.number, old.first_seq)
     or new.last_seq < old.last_seq or new.records < old.records then
    raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger never_smaller before update on record_chunks for each row execute function refuse_smaller_chunk();
create trigger never_fewer before delete or truncate on record_chunks
  for each statement execute function refuse_change();

-- Rows of usage records may be deleted once a chunk has them.
create function refuse_unarchived() returns trigger language plpgsql as $$
begin
  if exists (select from gone g where g.posting_seq > coalesce(
               (select max(last_seq) from record_chunks c where c.tenant_id = g.tenant_id), 0)) then
    raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
drop trigger append_only on usage_records;
create trigger append_only before truncate on usage_records
  for each statement execute function refuse_change();
create trigger only_archived after delete on usage_records referencing old table as gone
  for each statement execute function refuse_unarchived();

-- A process of a version from before the archive does not set it. Nothing is archived while one lives.
alter table processes add column reads_archive boolean not null default false;

-- Such a process would charge archived ids again, so its charges are refused.
create function refuse_older_version() returns trigger language plpgsql as $$
begin
  if current_setting('boxoffice.knows_archive', true) is distinct from 'on'
     and exists (select from record_chunks) then
    raise exception 'usage records are archived: this version of the service would charge them again'
      using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
create trigger archive_known before insert on usage_records
  for each statement execute function refuse_older_version();

-- The role of the service has no right to delete usage records, except by this function. Returns how many it deleted.
create function delete_archived_records(tenant bigint, archived text[]) returns bigint
language plpgsql security definer set enable_seqscan = off as $$
declare
  deleted bigint;
begin
  delete from usage_records r
   where r.tenant_id = tenant and r.id = any(archived)
     and r.posting_seq <= (select max(c.last_seq) from record_chunks c where c.tenant_id = tenant);
  get diagnostics deleted = row_count;
  return deleted;
end $$;
do $$
begin
  execute format('alter function delete_archived_records set search_path = %I, pg_temp', current_schema());
end $$;

-- Where tables are distributed, they have no triggers, so the role of the service is kept from deleting chunks by its rights. What each table
-- lets it do has a function of its own, for the next table to change.
create function rights_on_table(given oid) returns text language sql stable as $$
  select case
    when c.relname = 'migrations' then 'SELECT'
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
      from (select c.oid, c.relname as name, string_to_array(rights_on_table(c.oid), ',') as rights
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
