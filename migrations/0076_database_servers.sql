-- How the process that asked last found each server of a distributed database. Where there is only one server, no rows.
create table database_servers (
  -- Of Citus, `groupid`: by it, placements name their server.
  id integer primary key,
  name text not null,
  asked_at timestamptz not null,
  -- In a row.
  failures integer not null default 0 check (failures >= 0),
  away_since timestamptz check ((away_since is null) = (failures = 0))
);
