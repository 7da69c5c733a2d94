-- Members may prove their address by logging in at an issuer of OpenID Connect.
alter table console_sessions
  drop constraint console_sessions_proof_check,
  add constraint console_sessions_proof_check check (proof in ('signup', 'mail', 'passkey', 'oidc', 'key', 'operator'));

-- Log-ins that were begun here, and go on at the issuer. Each can be finished once, by the browser that began it: the
-- secret is in its cookie only, and what the issuer sees is computed from it.
create table login_attempts (
  hash      bytea primary key check (octet_length(hash) = 32),
  console   text not null check (console in ('tenants', 'operators')),
  -- The page to begin with.
  next      text not null,
  -- Of a log-in again: who has to be the one that logs in, and for members the tenant to go on with.
  email     text,
  tenant_id bigint references tenants,
  begun_at  timestamptz not null default now(),
  check (case console when 'tenants' then (tenant_id is null) = (email is null) else tenant_id is null end)
);
create index login_attempts_by_age on login_attempts (begun_at);
