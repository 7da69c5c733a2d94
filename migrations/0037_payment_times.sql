-- A payment has one time: that of its entry in the ledger. Until now it had that of its own row, a moment before. Of the
-- postings, only the payments are read, by the index that leaves out usage; they are not written.
create temporary table payment_times on commit drop as
  select reference as id, at from postings
   where kind in ('top_up', 'auto_top_up') and kind not in ('usage', 'unbilled');

update payments p set settled_at = t.at from payment_times t where p.id = t.id and p.settled_at <> t.at;
