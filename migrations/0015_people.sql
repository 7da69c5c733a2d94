-- People can be forgotten: amounts stay, names go.
--
-- In the two append-only tables that name people, a name may be replaced by the mark '(erased)'
-- (src/money/usage/usage-record.ts), and nothing else may change.

-- Requests to erase a participant. A background job works through the tenant's tables part by part, so `step` and
-- `position` say what has been done. The name is here only as long as it is needed.
create table erasures (
  tenant_id   bigint not null references tenants,
  id          text not null,
  name        text check (name not in ('', '(erased)')),
  state       text not null default 'pending' check (state in ('pending', 'done')),
  -- The table that is worked through, and the key of its last row that was looked at.
  step        text not null,
  position    text not null default '',
  -- How many usage records, and how many rows of other tables, have lost the name.
  records     bigint not null default 0 check (records >= 0),
  others      bigint not null default 0 check (others >= 0),
  created_at  timestamptz not null default clock_timestamp(),
  -- Not before this time, because the last attempt failed.
  next_at     timestamptz not null default now(),
  finished_at timestamptz,
  primary key (tenant_id, id),
  check ((state = 'done') = (name is null)),
  check ((state = 'done') = (finished_at is not null))
) with (fillfactor = 50);
create unique index erasures_pending on erasures (tenant_id, name) where state = 'pending';
create index erasures_queue on erasures (created_at) where state = 'pending';

-- Refuses every update but one: a name in one of the columns that the trigger lists becomes the mark.
create function refuse_change_but_erasure() returns trigger language plpgsql as $$
declare
  before constant jsonb := to_jsonb(old);
  after constant jsonb := to_jsonb(new);
  each text;
begin
  if before - tg_argv <> after - tg_argv then
    raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
  end if;
  foreach each in array tg_argv loop
    if after -> each <> before -> each and (before ->> each is null or after ->> each is distinct from '(erased)') then
      raise exception '% is append-only: % may only be erased', tg_table_name, each using errcode = 'restrict_violation';
    end if;
  end loop;
  return new;
end $$;

drop trigger append_only on usage_records;
create trigger append_only before delete or truncate on usage_records
  for each statement execute function refuse_change();
create trigger erasable before update on usage_records
  for each row execute function refuse_change_but_erasure('participant');

drop trigger append_only on moderation_events;
create trigger append_only before delete or truncate on moderation_events
  for each statement execute function refuse_change();
create trigger erasable before update on moderation_events
  for each row execute function refuse_change_but_erasure('value', 'actor', 'reason');

-- The role that owns nothing gets the rights on tables as before, and the right to update the columns that hold names.
alter function grant_application_rights(name) rename to grant_table_rights;

create function grant_application_rights(application name) returns void language plpgsql as $$
declare
  each record;
begin
  perform grant_table_rights(application);
  for each in
    select * from (values ('usage_records', 'participant'), ('moderation_events', 'value'),
                          ('moderation_events', 'actor'), ('moderation_events', 'reason'),
                          ('events', 'subject')) as named (in_table, in_column)
     where not has_column_privilege(application, format('%I', in_table), in_column, 'UPDATE')
  loop
    execute format('grant update (%I) on table %I to %I', each.in_column, each.in_table, application);
  end loop;
end $$;
revoke execute on function grant_application_rights(name) from public;
