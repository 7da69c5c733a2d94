-- Sessions: what one participant did in one room incarnation, from entering to leaving, with the sums of its usage.

-- Kept for ever, as usage records are: a session has its own sums, and needs no record and no participant. The sums change
-- with every report, so part of each page is left free, and no index has one of them.
create table sessions (
  tenant_id     bigint not null,
  id            text collate "C" not null check (id ~ '^se_[0-9a-f]{32}$'),
  room          text collate "C" not null,
  room_uid      text not null,
  -- The username, or '(erased)'.
  participant   text collate "C" not null,
  role          text not null check (role in ('host', 'audience', 'broadcast_audience')),
  -- The API key or device credential that admitted it first.
  key_id        text,
  -- Whom the tenant's back end named when it minted the token.
  customer      text,
  -- Thumbprints of the keys of its devices.
  devices       text[] not null default '{}',
  entered_at    timestamptz not null,
  left_at       timestamptz,
  leave_reason  text check (leave_reason in ('expired', 'kicked', 'banned', 'ended', 'watchdog')),
  -- The postings with its records: all of them are from the first to the last.
  first_seq     bigint,
  last_seq      bigint,
  records       bigint not null default 0,
  -- By tier, in the order of TIERS (src/money/pricing/role.ts).
  seconds       bigint[] not null default '{0,0,0,0,0}' check (cardinality(seconds) = 5),
  egress_bytes  numeric not null default 0,
  ingress_bytes numeric not null default 0,
  amount        numeric not null default 0,
  unbilled      numeric not null default 0,
  primary key (tenant_id, id),
  check ((left_at is null) = (leave_reason is null)),
  check ((first_seq is null) = (records = 0))
) with (fillfactor = 70);
create index sessions_by_time on sessions (tenant_id, entered_at, id);
create index sessions_of_room on sessions (tenant_id, room, entered_at, id);
create index sessions_of_participant on sessions (tenant_id, participant, entered_at, id);
create index sessions_of_key on sessions (tenant_id, key_id, entered_at, id);
create index sessions_of_participant_in_room on sessions (tenant_id, room, participant, entered_at);

-- Usage that belongs to no session: it names no participant, or none who was in the room. By room, and by the incarnation
-- that was there at the time; empty if there was none.
create table unassigned_usage (
  tenant_id     bigint not null,
  room          text collate "C" not null,
  room_uid      text collate "C" not null,
  records       bigint not null,
  seconds       bigint[] not null check (cardinality(seconds) = 5),
  egress_bytes  numeric not null,
  ingress_bytes numeric not null,
  amount        numeric not null,
  unbilled      numeric not null,
  primary key (tenant_id, room, room_uid)
) with (fillfactor = 70);

-- How far each tenant's postings are assigned. The row is locked during a turn, so that one process takes it.
create table session_cursors (
  tenant_id bigint primary key,
  seq       bigint not null default 0,
  -- When the last turn was: who has waited longest is next.
  turned_at timestamptz not null default '-infinity'
) with (fillfactor = 50);

-- Users who are present have sessions from now on.
insert into sessions (tenant_id, id, room, room_uid, participant, role, key_id, devices, entered_at)
select p.tenant_id, 'se_' || replace(gen_random_uuid()::text, '-', ''), r.name, p.room_uid, p.username, p.role,
       a.key_id, coalesce(a.devices, '{}'), p.entered_at
  from participants p
  join rooms r on r.tenant_id = p.tenant_id and r.uid = p.room_uid
  left join (select tenant_id, room_uid, username, array_agg(device order by device) as devices,
                    (array_agg(key_id order by admitted_at))[1] as key_id
               from admissions group by tenant_id, room_uid, username) a
    on a.tenant_id = p.tenant_id and a.room_uid = p.room_uid and a.username = p.username
 where p.left_at is null;

-- What was charged before stays unassigned. One statement, so that postings and sums are of one moment.
create temporary table charged_before on commit drop as
  select a.tenant_id, a.last_seq, s.room, sum(s.records) as records,
         array[coalesce(sum(s.seconds) filter (where s.tier = 'a'), 0), coalesce(sum(s.seconds) filter (where s.tier = 'h'), 0),
               coalesce(sum(s.seconds) filter (where s.tier = 'f'), 0), coalesce(sum(s.seconds) filter (where s.tier = '2'), 0),
               coalesce(sum(s.seconds) filter (where s.tier = 'k'), 0)]::bigint[] as seconds,
         sum(s.egress_bytes) as egress_bytes, sum(s.ingress_bytes) as ingress_bytes, sum(s.amount) as amount,
         sum(s.unbilled) as unbilled
    from accounts a
    left join (
      select tenant_id, room, tier, records, seconds, egress_bytes, ingress_bytes, amount, unbilled from usage_room_hours
      union all
      select d.tenant_id, sum->>0, (sum->>2)::"char", (sum->>3)::bigint, (sum->>4)::bigint, (sum->>5)::numeric,
             (sum->>6)::numeric, (sum->>7)::numeric, (sum->>8)::numeric
        from usage_deltas d, json_array_elements(d.sums) as e (sum)
    ) s on s.tenant_id = a.tenant_id
   where a.last_seq is not null
   group by a.tenant_id, a.last_seq, s.room;

insert into session_cursors (tenant_id, seq) select distinct tenant_id, last_seq from charged_before;

insert into unassigned_usage (tenant_id, room, room_uid, records, seconds, egress_bytes, ingress_bytes, amount, unbilled)
select tenant_id, room, '', records, seconds, egress_bytes, ingress_bytes, amount, unbilled
  from charged_before where room is not null;
