-- The pricing rule and the rounding that each batch of usage was charged with.
--
-- Adding columns with constant defaults does not rewrite the table, however many postings there are.
-- Every existing posting then reads rule 1, the only rule so far, and an unknown rounding, because the
-- rounding was not stored. The update sets both to null where a posting is not usage; those are few.
-- It changes only the new columns, so the append-only trigger is disabled for this one statement.
alter table postings
  add column rule_version smallint default 1,
  -- c: carry, r: per record, u: unknown (postings older than this column).
  add column rounding "char" default 'u',
  disable trigger append_only;

update postings set rule_version = null, rounding = null where kind not in ('usage', 'unbilled');

alter table postings
  enable trigger append_only,
  alter column rule_version drop default,
  alter column rounding drop default,
  add check (rule_version > 0),
  add check (rounding in ('c', 'r', 'u')),
  -- Usage has both; no other posting has either.
  add constraint postings_rule
    check (num_nonnulls(rule_version, rounding) = case when kind in ('usage', 'unbilled') then 2 else 0 end);
