-- Keys for agents, which call the tools of /mcp and nothing else. See src/access/agents/agent-key.ts.
create table agent_keys (
  tenant_id      bigint not null references tenants,
  id             text not null unique check (id ~ '^[0-9a-f]{16}$'),
  name           text not null check (char_length(name) between 1 and 100),
  hash           bytea not null check (octet_length(hash) = 32),
  -- What it may see and do, as a member of this role may in the console.
  role           text not null check (role in ('viewer', 'finance')),
  -- Writes in any 24 hours.
  writes_per_day integer not null check (writes_per_day between 0 and 100),
  created_at     timestamptz not null default now(),
  expires_at     timestamptz not null check (expires_at between created_at and created_at + interval '90 days'),
  revoked_at     timestamptz,
  primary key (tenant_id, id)
);

-- A write that an agent was shown, and may confirm once. Rows go a day after the write, or with the next preview after they expired.
create table agent_confirmations (
  tenant_id      bigint not null,
  key_id         text not null,
  hash           bytea not null check (octet_length(hash) = 32),
  tool           text not null,
  -- Of its arguments.
  arguments_hash bytea not null check (octet_length(arguments_hash) = 32),
  expires_at     timestamptz not null,
  used_at        timestamptz check (used_at < expires_at),
  primary key (tenant_id, key_id, hash),
  foreign key (tenant_id, key_id) references agent_keys
);
