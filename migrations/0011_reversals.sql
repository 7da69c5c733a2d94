-- How much of a dispute was withdrawn and reinstated, in micros, by its balance transactions. Their number
-- orders the provider's answers: a dispute only ever gets more of them. Rows from before this migration have
-- 0 of them, so that the next answer replaces their amounts.
alter table disputes
  alter column withdrawn drop default,
  alter column reinstated drop default,
  alter column withdrawn type bigint using case when withdrawn then amount else 0 end,
  alter column reinstated type bigint using case when reinstated then amount else 0 end,
  alter column withdrawn set default 0,
  alter column reinstated set default 0,
  add check (withdrawn >= 0),
  add check (reinstated >= 0),
  add column movements integer not null default 0 check (movements >= 0);

-- The comparison with the provider looks at what changed lately.
alter table disputes add column changed_at timestamptz not null default now();
alter table refunds add column changed_at timestamptz not null default now();
create index payments_settled on payments (settled_at);

-- The last comparison with the provider, and when the next one is due. One row; a new one counts as a comparison
-- without differences.
create table provider_drift (
  only_row    boolean primary key default true check (only_row),
  next_at     timestamptz not null,
  looked_at   timestamptz not null default now(),
  differences integer not null default 0 check (differences >= 0)
);
