-- Device credentials, rooms, participants and the keys that sign participant tokens.

create table device_credentials (
  tenant_id    bigint not null references tenants,
  id           text not null check (id ~ '^[0-9a-f]{16}$'),
  name         text not null check (char_length(name) between 1 and 100),
  hash         bytea not null check (octet_length(hash) = 32),
  publish      text[] not null check (publish <@ array['audio', 'video', 'screen', 'data']),
  -- Names and patterns of the rooms that may be joined; null: every room.
  rooms        text[] check (cardinality(rooms) > 0),
  default_room text,
  expires_at   timestamptz,
  created_at   timestamptz not null default now(),
  retires_at   timestamptz,
  revoked_at   timestamptz,
  primary key (tenant_id, id)
);
-- A device shows its credential before anybody knows its tenant.
create unique index device_credentials_by_id on device_credentials (id);

-- One row for each incarnation of a room. A name that ended may be opened again as the next
-- incarnation; joining only ever makes the first one, so it cannot bring an ended room back to life
-- (rooms_incarnation), and no two rooms of a name are live (rooms_live).
create table rooms (
  tenant_id   bigint not null references tenants,
  uid         text not null,
  name        text not null check (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'),
  incarnation integer not null check (incarnation > 0),
  state       text not null default 'LIVE' check (state in ('LIVE', 'ENDED')),
  policy      jsonb not null,
  created_at  timestamptz not null default clock_timestamp(),
  ended_at    timestamptz,
  end_reason  text check (end_reason in ('ended', 'closed', 'watchdog')),
  metadata    text not null default '' check (char_length(metadata) <= 4096),
  -- When those had last been there, of all and of hosts, who left so long ago that they are forgotten.
  last_left_at timestamptz,
  last_host_at timestamptz,
  -- Long after its end, everybody in it is forgotten.
  is_swept    boolean not null default false,
  primary key (tenant_id, uid),
  constraint rooms_incarnation unique (tenant_id, name, incarnation),
  check ((state = 'ENDED') = (ended_at is not null)),
  check ((state = 'ENDED') = (end_reason is not null))
);
create unique index rooms_live on rooms (tenant_id, name) where state = 'LIVE';
create index rooms_ended on rooms (tenant_id, ended_at) where ended_at is not null;
create index rooms_unswept on rooms (ended_at) where ended_at is not null and not is_swept;

-- Who is in a room, or was: a user, present from the first token until the last one has lapsed.
create table participants (
  tenant_id       bigint not null,
  room_uid        text not null,
  username        text not null,
  -- What the name looks like (UTS #39): equal for names that may be taken for one another.
  skeleton        text not null,
  role            text not null check (role in ('host', 'audience', 'broadcast_audience')),
  rank            smallint not null check (rank between 0 and 99),
  -- What the last mint was to grant, or the last join where no mint of a higher rank stands against it. What a
  -- moderator has taken is not in tokens all the same.
  capabilities    text[] not null,
  muted           text[] not null default '{}' check (muted <@ array['audio', 'video', 'screen', 'data']),
  publish_revoked text[] not null default '{}'
                  check (publish_revoked <@ array['audio', 'video', 'screen', 'data']),
  -- Tokens of an earlier epoch are void. A kick begins a new one.
  epoch           integer not null default 0,
  -- When epoch, muted or publish_revoked changed: what the revocation feed still has to tell.
  revoked_at      timestamptz,
  tier            text check (tier in ('audio', 'hd', 'full_hd', '2k', '2k_plus')),
  entered_at      timestamptz not null default now(),
  last_seen_at    timestamptz,
  -- When the last token lapses.
  expires_at      timestamptz not null,
  left_at         timestamptz,
  leave_reason    text check (leave_reason in ('expired', 'kicked', 'banned', 'ended', 'watchdog')),
  foreign key (tenant_id, room_uid) references rooms,
  check ((left_at is null) = (leave_reason is null))
);
create index participants_by_skeleton on participants (tenant_id, skeleton, room_uid) where left_at is null;
create index participants_present on participants (expires_at) where left_at is null;
create index participants_revoked on participants (tenant_id, revoked_at) where revoked_at is not null;
-- Whoever left a room last, and the last of its hosts: nobody reads through all who ever left.
create index participants_gone on participants (tenant_id, room_uid, left_at) where left_at is not null;
create index hosts_gone on participants (tenant_id, room_uid, left_at) where left_at is not null and role = 'host';
-- Whom nothing still acts on, and who is to be forgotten.
create index participants_forgettable on participants (left_at)
  where left_at is not null and muted = '{}' and publish_revoked = '{}';
-- After the other indexes: while the table is empty all of them look equally good for finding one user, PostgreSQL
-- then takes the newest, and plans that are kept from that time would read whole rooms by another one.
alter table participants add primary key (tenant_id, room_uid, username);
-- Newer still, and only of use to whoever asks for those who are in a room: one of them, or a page, or all.
create index participants_in_room on participants (tenant_id, room_uid, username) where left_at is null;

-- The devices of a user in a room, each until its newest token lapses, and with what that one is to grant: by it
-- a participant acts on others, and not by what another device of the same name was given.
create table admissions (
  tenant_id    bigint not null,
  room_uid     text not null,
  username     text not null,
  device       text not null,
  role         text not null check (role in ('host', 'audience', 'broadcast_audience')),
  rank         smallint not null check (rank between 0 and 99),
  capabilities text[] not null,
  key_id       text not null,
  admitted_at  timestamptz not null default now(),
  expires_at   timestamptz not null,
  foreign key (tenant_id, room_uid, username) references participants on delete cascade
);
create index admissions_by_device on admissions (tenant_id, device);
create index admissions_by_expiry on admissions (expires_at);
-- After the other indexes, as above.
alter table admissions add primary key (tenant_id, room_uid, username, device);

-- The keys of the whole deployment. Public parts are published from `pending` to `retiring`; the
-- private part is encrypted with SECRETS_KEY and erased when the key is removed.
create table signing_keys (
  kid          text primary key check (kid ~ '^[A-Za-z0-9_-]{43}$'),
  alg          text not null check (alg = 'ES256'),
  public_key   jsonb not null check (not public_key ? 'd'),
  private_key  bytea,
  state        text not null check (state in ('pending', 'active', 'retiring', 'removed')),
  published_at timestamptz not null default now(),
  activated_at timestamptz,
  -- From this time on no token that the key signed is accepted any more, and no cache needs it.
  remove_at    timestamptz,
  removed_at   timestamptz,
  check ((state = 'removed') = (private_key is null)),
  check ((state = 'removed') = (removed_at is not null)),
  check (state <> 'retiring' or remove_at is not null),
  check (state <> 'active' or activated_at is not null)
);
create unique index signing_keys_pending on signing_keys (state) where state = 'pending';
create unique index signing_keys_active on signing_keys (state) where state = 'active';
