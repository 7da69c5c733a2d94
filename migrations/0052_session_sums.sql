-- Sums of the usage of sessions: by participant, key and customer, and by room incarnation. Sessions are many, so their own sums
-- cannot be added up while a caller waits.

-- By the day and the month (UTC) in which usage was charged. Every charge that belongs to a session is in one row of each kind and
-- part. The columns that every reader skips through come first, and have a fixed length.
create table session_sums (
  tenant_id     bigint not null,
  start         timestamptz not null,
  records       bigint not null,
  seconds       bigint not null,
  -- By participant, key or customer.
  kind          "char" not null check (kind in ('p', 'k', 'c')),
  part          "char" not null check (part in ('d', 'm')),
  -- The username or '(erased)', the id of the key, the label; empty: the session has none.
  name          text collate "C" not null,
  egress_bytes  numeric not null,
  ingress_bytes numeric not null,
  amount        numeric not null,
  unbilled      numeric not null,
  primary key (tenant_id, kind, part, start, name),
  check (start = date_trunc(case part when 'd' then 'day' else 'month' end, start, 'UTC'))
) with (fillfactor = 70);

-- By room and incarnation: of its sessions, and what belongs to none of them. It takes the place of unassigned_usage.
create table room_usage (
  tenant_id     bigint not null,
  -- Empty: the records have none.
  room          text collate "C" not null,
  -- Empty: no room of this name was there.
  room_uid      text collate "C" not null,
  is_assigned   boolean not null,
  -- How many have begun.
  sessions      bigint not null default 0,
  records       bigint not null default 0,
  -- By tier, in the order of TIERS (src/money/pricing/role.ts).
  seconds       bigint[] not null default '{0,0,0,0,0}' check (cardinality(seconds) = 5),
  egress_bytes  numeric not null default 0,
  ingress_bytes numeric not null default 0,
  amount        numeric not null default 0,
  unbilled      numeric not null default 0,
  primary key (tenant_id, room, room_uid, is_assigned)
) with (fillfactor = 70);

insert into room_usage (tenant_id, room, room_uid, is_assigned, records, seconds, egress_bytes, ingress_bytes, amount, unbilled)
select tenant_id, room, room_uid, false, records, seconds, egress_bytes, ingress_bytes, amount, unbilled from unassigned_usage;

insert into room_usage (tenant_id, room, room_uid, is_assigned, sessions, records, seconds, egress_bytes, ingress_bytes, amount,
                        unbilled)
select tenant_id, room, room_uid, true, count(*), sum(records),
       array[sum(seconds[1]), sum(seconds[2]), sum(seconds[3]), sum(seconds[4]), sum(seconds[5])]::bigint[],
       sum(egress_bytes), sum(ingress_bytes), sum(amount), sum(unbilled)
  from sessions group by tenant_id, room, room_uid;

drop table unassigned_usage;
