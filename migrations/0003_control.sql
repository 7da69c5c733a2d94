-- The control plane: answers kept for retries, events, moderation and watchdogs.

-- The answers of mutations, so that a retry gets the first one. Each is encrypted with SECRETS_KEY,
-- because it may hold a credential, and is written in the transaction of what it tells of.
create table idempotency_keys (
  tenant_id    bigint not null references tenants,
  key          text not null check (char_length(key) between 1 and 128),
  -- SHA-256 of the method and the request.
  request_hash bytea not null check (octet_length(request_hash) = 32),
  -- Null only inside the transaction that is at work.
  answer       bytea,
  created_at   timestamptz not null default now(),
  primary key (tenant_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

create index rooms_by_age on rooms (tenant_id, created_at, uid);

-- How far each tenant's events have come. The row is locked from the moment a transaction takes its
-- numbers until it commits, which is why they have no gap and become visible in their order.
create table event_streams (
  tenant_id       bigint primary key references tenants,
  last_seq        bigint not null default 0 check (last_seq >= 0),
  -- The newest event that changed what relays must refuse.
  last_revocation bigint not null default 0 check (last_revocation between 0 and last_seq)
) with (fillfactor = 50);

-- What happened, each event with its subject as it was then. Kept for some days.
create table events (
  tenant_id bigint not null references event_streams,
  seq       bigint not null check (seq > 0),
  at        timestamptz not null default clock_timestamp(),
  type      text not null check (type in
            ('room_created', 'room_updated', 'room_ended', 'participant_entered', 'participant_updated',
             'participant_left', 'moderation', 'watchdog_warned', 'watchdog_rearmed', 'watchdog_fired')),
  room_uid  text,
  subject   jsonb not null,
  primary key (tenant_id, seq)
);
create index events_by_age on events (at);

-- Events that wait for their numbers, so that whoever only comes in need not wait for the row of the
-- stream. They are numbered before anything that happens later, and before anybody reads.
create table unnumbered_events (
  tenant_id bigint not null,
  id        bigint generated always as identity,
  at        timestamptz not null default clock_timestamp(),
  type      text not null check (type in
            ('room_created', 'room_updated', 'room_ended', 'participant_entered', 'participant_updated',
             'participant_left', 'moderation', 'watchdog_warned', 'watchdog_rearmed', 'watchdog_fired')),
  room_uid  text,
  subject   jsonb not null,
  primary key (tenant_id, id)
);

-- What moderators did, kept for ever. `id` is the number of the event that told of it.
create table moderation_events (
  tenant_id   bigint not null references tenants,
  id          bigint not null,
  action      text not null check (action in
              ('kick', 'ban', 'unban', 'force_mute', 'release_mute', 'revoke_publish', 'restore_publish',
               'close_room')),
  room_uid    text,
  kind        text check (kind in ('user', 'device', 'cidr')),
  value       text,
  tracks      text[] not null default '{}' check (tracks <@ array['audio', 'video', 'screen', 'data']),
  reason      text not null default '' check (char_length(reason) <= 500),
  -- The participant who did it; null: the tenant itself, or a watchdog.
  actor       text,
  key_id      text,
  watchdog_id text,
  at          timestamptz not null default clock_timestamp(),
  expires_at  timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, room_uid) references rooms,
  check ((kind is null) = (value is null)),
  check (num_nonnulls(key_id, watchdog_id) = 1)
);
create index moderation_events_of_room on moderation_events (tenant_id, room_uid, id);
create index moderation_events_of_user on moderation_events (tenant_id, value, id) where kind = 'user';
create trigger append_only before update or delete or truncate on moderation_events
  for each statement execute function refuse_change();

create table bans (
  tenant_id  bigint not null references tenants,
  id         text not null,
  -- Null: every room of the tenant.
  room_uid   text,
  kind       text not null check (kind in ('user', 'device', 'cidr')),
  value      text not null,
  network    cidr,
  reason     text not null default '' check (char_length(reason) <= 500),
  -- The participant who set it, and with which rank; null: the tenant itself.
  actor      text,
  rank       smallint not null check (rank between 0 and 100),
  created_at timestamptz not null default now(),
  -- When it was set, or last made stronger.
  set_at     timestamptz not null default now(),
  expires_at timestamptz,
  -- When it was lifted, or gave way to a newer one after it had ended.
  lifted_at  timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, room_uid) references rooms,
  check ((kind = 'cidr') = (network is not null)),
  check (expires_at > created_at)
);
create unique index bans_standing on bans (tenant_id, kind, value, coalesce(room_uid, ''))
  where lifted_at is null;
create index bans_newest on bans (tenant_id, created_at) where lifted_at is null;
create index bans_set on bans (set_at) where kind <> 'cidr' and lifted_at is null;
create index bans_by_end on bans (expires_at) where lifted_at is null and expires_at is not null;
create index bans_of_rooms on bans (tenant_id, room_uid) where lifted_at is null and room_uid is not null;
create index bans_of_addresses on bans (tenant_id) where kind = 'cidr' and lifted_at is null;

create table watchdogs (
  tenant_id      bigint not null references tenants,
  id             text not null,
  room_uid       text not null,
  condition      text not null check (condition in
                 ('max_duration', 'unused_for', 'empty_for', 'host_absent_for', 'alone_for',
                  'participant_max_duration', 'unadmitted_for')),
  duration_ms    bigint not null check (duration_ms between 1000 and 31622400000),
  action         text not null check (action in ('end_room', 'kick', 'revoke_publish', 'notify')),
  warn_before_ms bigint not null default 0 check (warn_before_ms >= 0 and warn_before_ms < duration_ms),
  state          text not null default 'armed' check (state in ('armed', 'warned', 'fired', 'disarmed')),
  -- When to look at it next; null: not before something happens to its room.
  check_at       timestamptz default now(),
  -- When somebody last set out to look at it.
  looked_at      timestamptz,
  -- Since when the condition has held, where rows elsewhere do not tell.
  held_since     timestamptz,
  -- `participant_max_duration`: it has fired for all who came in up to then.
  fired_for      timestamptz,
  fired_at       timestamptz,
  created_at     timestamptz not null default now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, room_uid) references rooms,
  check (state <> 'fired' or fired_at is not null),
  check (state in ('armed', 'warned') or check_at is null),
  check (condition not in ('unused_for', 'empty_for') or action not in ('kick', 'revoke_publish')),
  check (condition <> 'participant_max_duration' or action <> 'end_room')
);
create unique index watchdogs_armed on watchdogs (tenant_id, room_uid, condition)
  where state in ('armed', 'warned');
create index watchdogs_by_age on watchdogs (tenant_id, created_at, id);
create index watchdogs_by_room on watchdogs (tenant_id, room_uid, created_at, id);
create index watchdogs_due on watchdogs (check_at) where check_at is not null;
