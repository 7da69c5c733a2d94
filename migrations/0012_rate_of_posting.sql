-- A posting names its rate card without a foreign key.
--
-- Each posting locked the row of the newest rate card through that key, so all postings of all tenants shared one
-- row: they were members of the same multixacts, and each paid for a look-up and a lock. A rate card is never
-- updated or deleted (its trigger `append_only`), so a version that existed when its posting was made exists for ever.
alter table postings drop constraint postings_rate_version_fkey;
