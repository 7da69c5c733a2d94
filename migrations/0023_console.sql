-- People who use the console of a tenant. The address of the signup is its first owner.
create table members (
  tenant_id  bigint not null references tenants,
  id         text not null check (id ~ '^m_[0-9a-f]{32}$'),
  -- In lower case: two spellings of an address are one person.
  email      text not null check (email <> ''),
  role       text not null check (role in ('owner', 'finance', 'moderator', 'viewer')),
  created_at timestamptz not null default now(),
  -- Null: invited, and never logged in by mail.
  joined_at  timestamptz,
  primary key (tenant_id, id),
  unique (tenant_id, email)
);
create index members_by_email on members (email);

insert into members (tenant_id, id, email, role, created_at)
select id, 'm_' || replace(gen_random_uuid()::text, '-', ''), lower(email), 'owner', created_at
  from tenants where status <> 'deleted';

-- Sessions of the console. The secret is in the browser's cookie only. A session is looked up for each request, so
-- one that is deleted, or whose member is, ends at once in every process.
create table console_sessions (
  hash       bytea primary key check (octet_length(hash) = 32),
  tenant_id  bigint not null references tenants,
  -- By what the log-in was proved.
  proof      text not null check (proof in ('signup', 'mail', 'key', 'operator')),
  -- Of a session that was proved by signup or mail.
  member_id  text,
  -- Of one that was proved by an API key, with which it ends.
  key_id     text references api_keys,
  -- Of one that an operator opened: the login name.
  operator   text,
  created_at timestamptz not null default now(),
  seen_at    timestamptz not null default now(),
  foreign key (tenant_id, member_id) references members on delete cascade,
  check ((member_id is not null) = (proof in ('signup', 'mail'))),
  check ((key_id is not null) = (proof = 'key')),
  check ((operator is not null) = (proof = 'operator'))
);
create index console_sessions_of_member on console_sessions (tenant_id, member_id);
create index console_sessions_by_age on console_sessions (created_at);

-- Links that log in once.
create table login_links (
  hash       bytea primary key check (octet_length(hash) = 32),
  proof      text not null check (proof in ('mail', 'key', 'operator')),
  -- Of a mail: its address. Whether somebody has it is asked when the link is used.
  email      text,
  -- Of a mail: the tenant to begin with, if it was asked for.
  tenant_id  bigint references tenants,
  key_id     text references api_keys,
  operator   text,
  -- The page to begin with.
  next       text not null,
  expires_at timestamptz not null,
  check ((email is not null) = (proof = 'mail')),
  check ((key_id is not null) = (proof = 'key')),
  check ((operator is not null) = (proof = 'operator')),
  check (tenant_id is not null or proof = 'mail')
);
create index login_links_by_end on login_links (expires_at);

-- Members change things too. Like API keys, they come from an address.
alter table audit_entries
  drop constraint audit_entries_actor_kind_check,
  drop constraint audit_entries_check,
  add constraint audit_entries_actor_kind_check check (actor_kind in ('key', 'member', 'operator', 'system')),
  add constraint audit_entries_check check ((address is not null) = (actor_kind in ('key', 'member')));
