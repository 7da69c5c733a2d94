-- Operators at their own console, on the port that is never public. An operator is a login name of the machine, as in
-- the audit trail. The secret of a session is in the browser's cookie only, and each request looks its row up.
create table operator_sessions (
  hash       bytea primary key check (octet_length(hash) = 32),
  operator   text not null check (operator <> ''),
  created_at timestamptz not null default now(),
  seen_at    timestamptz not null default now()
);
create index operator_sessions_by_age on operator_sessions (created_at);

-- Links of the command line that log in once.
create table operator_links (
  hash       bytea primary key check (octet_length(hash) = 32),
  operator   text not null check (operator <> ''),
  expires_at timestamptz not null
);
create index operator_links_by_end on operator_links (expires_at);

-- Verifications that operators started at the console. The process that works on one moves `seen_at`; a row whose
-- process died is over when nobody moved it for a while.
create table verifications (
  id          text primary key check (id ~ '^vf_[0-9a-f]{32}$'),
  operator    text not null,
  started_at  timestamptz not null default now(),
  seen_at     timestamptz not null default now(),
  step        text not null default '',
  -- Records whose charge was computed again, and how many there are.
  done        bigint not null default 0 check (done >= 0),
  total       bigint not null default 0 check (total >= 0),
  finished_at timestamptz,
  -- How many differences were found, and the first of them. Null: it failed, or goes on.
  differences integer check (differences >= 0),
  shown       jsonb,
  error       text
);
create index verifications_by_age on verifications (started_at);
-- One at a time: each reads everything.
create unique index verification_under_way on verifications ((true)) where finished_at is null;
