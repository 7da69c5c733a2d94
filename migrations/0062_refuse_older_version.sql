-- A version of the service from before the archive asks for its rights without `reads_archive` when it starts. Once records are archived,
-- it does not start: it would neither show them nor know their ids.
alter function grant_application_rights(name) rename to grant_rights;

create function grant_application_rights(application name, reads_archive boolean default false) returns void language plpgsql as $$
begin
  -- Where tables are distributed, a row has to have a column.
  if not reads_archive and exists (select 1 from record_chunks) then
    raise exception 'usage records are archived, and this version of the service cannot read them: start a newer version'
      using errcode = 'restrict_violation', hint = 'By hand: grant_application_rights(role, reads_archive => true)';
  end if;
  perform grant_rights(application);
end $$;
revoke execute on function grant_application_rights(name, boolean) from public;
