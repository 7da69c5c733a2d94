-- The ids of archived usage records, as hashes in sorted runs. An id of any age must be found, or it would be charged again.
create table known_id_runs (
  tenant_id bigint not null,
  -- From 1 up where records are archived, from -1 down where runs are merged.
  run       integer not null,
  entries   integer not null check (entries >= 0),
  -- Its newest entry was archived with this posting or before.
  last_seq  bigint not null check (last_seq > 0),
  primary key (tenant_id, run)
);

-- A run cut into pages. Each has the hashes from first_hash up to the next page's; the first page begins at 0.
create table known_id_pages (
  tenant_id  bigint not null,
  first_hash bigint not null check (first_hash >= 0),
  run        integer not null,
  page       bytea not null,
  primary key (tenant_id, run, first_hash)
);
-- Hashes do not compress.
alter table known_id_pages alter column page set storage external;
