-- Credit with an end: an operator grants it, usage spends it before paid credit, and what is left at its end leaves.

-- Without a scan of the ledger under a lock: each kind that was allowed still is.
alter table postings drop constraint postings_kind_check;
alter table postings add constraint postings_kind_check
  check (kind in ('usage', 'unbilled', 'top_up', 'auto_top_up', 'refund', 'dispute', 'adjustment',
                  'grant', 'grant_expired', 'grant_voided')) not valid;
alter table postings add constraint postings_grant
  check (kind not in ('grant', 'grant_expired', 'grant_voided')
         or ((kind = 'grant') = (amount > 0) and amount <> 0 and reference is not null)) not valid;

create table grants (
  tenant_id  bigint not null references tenants,
  -- The posting that gave it.
  seq        bigint not null check (seq > 0),
  id         text not null check (id ~ '^gr_[0-9a-f]{32}$'),
  amount     bigint not null check (amount > 0),
  reason     text not null check (char_length(reason) between 1 and 500),
  -- The operator's own name for it, so that asking twice grants once.
  key        text check (char_length(key) between 1 and 200),
  granted_at timestamptz not null,
  expires_at timestamptz check (expires_at > granted_at),
  -- When it is looked at next: to warn of its end, then to end it. Null: it has no end, or has ended.
  due_at     timestamptz,
  ended_at   timestamptz,
  ended_by   text check (ended_by in ('spent', 'expired', 'voided')),
  -- The newest posting that it may have paid; null while it is not ended.
  last_seq   bigint check (last_seq >= seq),
  -- The posting that took what was left; null: nothing was.
  end_seq    bigint check (end_seq > seq),
  -- What was left.
  forfeited  bigint not null default 0 check (forfeited between 0 and amount),
  primary key (tenant_id, seq),
  unique (tenant_id, id),
  unique (tenant_id, key),
  check (num_nonnulls(ended_at, ended_by, last_seq) in (0, 3)),
  check ((forfeited > 0) = (end_seq is not null)),
  check (ended_at is null or due_at is null)
);
create index grants_due on grants (due_at) where due_at is not null;
