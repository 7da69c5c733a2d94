-- What usage of a period cost is replaced by what another rate card makes of it: by a posting for each tenant.
-- Without a scan of the ledger under a lock: each kind that was allowed still is.
alter table postings drop constraint postings_kind_check;
alter table postings add constraint postings_kind_check
  check (kind in ('usage', 'unbilled', 'top_up', 'auto_top_up', 'refund', 'dispute', 'adjustment',
                  'grant', 'grant_expired', 'grant_voided', 'correction')) not valid;

-- Amounts are in micros. A period may be corrected again, by one card after the other: each correction starts from
-- where the one before it left off. Two transactions that would make the same correction make the same key.
create table corrections (
  tenant_id    bigint not null,
  from_at      timestamptz not null,
  to_at        timestamptz not null check (from_at < to_at),
  number       integer not null check (number > 0),
  posting_seq  bigint not null,
  rate_version integer not null,
  records      bigint not null check (records > 0),
  -- What the usage had cost, with earlier corrections.
  charged      bigint not null,
  recomputed   bigint not null check (recomputed >= 0),
  -- What the posting gave back, or took.
  amount       bigint not null check (amount = charged - recomputed and amount <> 0),
  primary key (tenant_id, from_at, to_at, number),
  unique (tenant_id, posting_seq),
  foreign key (tenant_id, posting_seq) references postings (tenant_id, seq)
);
create trigger append_only before update or delete or truncate on corrections
  for each statement execute function refuse_change();

-- Where tables are distributed, `corrections` has no trigger, so it is named.
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
                                        'moderation_events', 'audit_entries', 'corrections')
                       or exists (select from pg_trigger where tgrelid = c.oid and tgname = 'append_only')
                       then 'SELECT,INSERT'
                     when c.relname = 'events' then 'SELECT,INSERT,DELETE'
                     when c.relname in ('tenants', 'accounts', 'payments', 'refunds', 'disputes', 'fraud_warnings',
                                        'grants')
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
