-- A passkey logs a person in, and a person is an address: that of a member, whatever tenants it has. The row goes with the
-- last member of the address.
create table passkey_holders (
  -- In lower case, as members have it.
  email  text primary key check (email <> ''),
  -- By this the authenticator knows whose passkey it is. It tells nothing about the person.
  handle bytea not null unique check (octet_length(handle) = 32)
);

create table passkeys (
  id           text primary key check (id ~ '^pk_[0-9a-f]{32}$'),
  email        text not null references passkey_holders on delete cascade,
  -- The id that the authenticator gave it.
  credential   bytea not null unique check (octet_length(credential) between 1 and 1023),
  -- As the authenticator encodes it (COSE).
  public_key   bytea not null,
  -- Log-ins so far, if the authenticator counts them. A count that does not grow is that of a copy.
  counter      bigint not null check (counter >= 0),
  -- How browsers reach the authenticator.
  transports   text[] not null,
  name         text not null check (name <> ''),
  -- The authenticator keeps it in more than one place.
  backed_up    boolean not null,
  created_at   timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkeys_of_holder on passkeys (email);

-- A session that was opened by a passkey ends with it.
alter table console_sessions
  add column passkey_id text references passkeys on delete cascade,
  drop constraint console_sessions_proof_check,
  drop constraint console_sessions_check,
  add constraint console_sessions_proof_check check (proof in ('signup', 'mail', 'passkey', 'key', 'operator')),
  add constraint console_sessions_check check ((member_id is not null) = (proof not in ('key', 'operator'))),
  add constraint console_sessions_passkey_check check ((passkey_id is not null) = (proof = 'passkey'));
create index console_sessions_of_passkey on console_sessions (passkey_id);

-- What a browser has to sign, once. Only the hash is stored, as of all that logs in.
create table passkey_challenges (
  hash       bytea primary key check (octet_length(hash) = 32),
  purpose    text not null check (purpose in ('add', 'log_in', 'confirm')),
  -- The session that adds a passkey, or that is confirmed.
  session    bytea references console_sessions on delete cascade,
  expires_at timestamptz not null,
  check ((session is not null) = (purpose <> 'log_in'))
);
create index passkey_challenges_by_end on passkey_challenges (expires_at);
create index passkey_challenges_of_session on passkey_challenges (session);
