-- Where the money went: sums of usage by hour, and reads of the ledger in its own order.

-- When the transaction began that inserted a posting with its records: the same instant in both. COPY appends, so
-- records lie in this order, whatever the tenant, and a small BRIN index finds those of a posting. A B-tree by
-- posting would make charging slower. Existing rows get the time of this migration, without rewriting the tables.
alter table usage_records add column inserted_at timestamptz not null default now();
alter table postings add column inserted_at timestamptz not null default now();
create index usage_records_by_time on usage_records using brin (inserted_at) with (autosummarize = on);

create index postings_by_time on postings (tenant_id, at);
create index usage_conflicts_newest on usage_conflicts (tenant_id, last_at, id);
create index postings_but_usage on postings (tenant_id, seq) where kind not in ('usage', 'unbilled');

-- What a posting of usage adds to the sums below, until it is added. Inserted with the posting, deleted with the
-- addition: together, these rows and the sums equal the ledger at any time. `sums` is a list with a short list for each
-- room, role and tier: these three, and then records, seconds, egress_bytes, ingress_bytes, amount, unbilled.
create table usage_deltas (
  tenant_id bigint not null,
  seq       bigint not null,
  at        timestamptz not null,
  sums      json not null,
  primary key (tenant_id, seq)
);

-- Sums of usage by the hour (UTC) in which it was charged. `amount` is what was charged, in micros; `unbilled` is what
-- would have been charged to an exempt tenant. A sum of bytes or micros has no upper bound, so it is numeric.
create table usage_hours (
  tenant_id     bigint not null references tenants,
  hour          timestamptz not null check (hour = date_trunc('hour', hour, 'UTC')),
  role          "char" not null check (role in ('h', 'a', 'b')),
  tier          "char" not null check (tier in ('a', 'h', 'f', '2', 'k')),
  records       bigint not null check (records > 0),
  seconds       bigint not null check (seconds >= 0),
  egress_bytes  numeric not null check (egress_bytes >= 0),
  ingress_bytes numeric not null check (ingress_bytes >= 0),
  amount        numeric not null check (amount >= 0),
  unbilled      numeric not null check (unbilled >= 0),
  primary key (tenant_id, hour, role, tier)
);

-- The same sums by room as well. Records without a room have the empty one.
create table usage_room_hours (
  like usage_hours including constraints,
  room text collate "C" not null check (char_length(room) <= 200),
  primary key (tenant_id, hour, room, role, tier),
  foreign key (tenant_id) references tenants
);

insert into usage_room_hours
  (tenant_id, hour, room, role, tier, records, seconds, egress_bytes, ingress_bytes, amount, unbilled)
select r.tenant_id, date_trunc('hour', p.at, 'UTC'), left(coalesce(r.room, ''), 200), r.role, r.tier,
       count(*), sum(r.seconds), sum(r.egress_bytes), sum(r.ingress_bytes),
       coalesce(sum(r.amount) filter (where p.kind = 'usage'), 0),
       coalesce(sum(r.amount) filter (where p.kind = 'unbilled'), 0)
  from usage_records r join postings p on p.tenant_id = r.tenant_id and p.seq = r.posting_seq
 group by 1, 2, 3, 4, 5;

insert into usage_hours
select tenant_id, hour, role, tier, sum(records), sum(seconds), sum(egress_bytes), sum(ingress_bytes), sum(amount),
       sum(unbilled)
  from usage_room_hours group by tenant_id, hour, role, tier;
