-- Sessions can be seen and ended one by one. Their ids are random, and tell nothing about their secrets. A browser is kept as
-- a few words, and the network as the first part of the address, so that people know their own sessions again.
alter table console_sessions
  add column id text not null default 'cs_' || replace(gen_random_uuid()::text, '-', ''),
  add column device text check (char_length(device) between 1 and 60),
  add column network text,
  add constraint console_sessions_id_key unique (id),
  add constraint console_sessions_id_check check (id ~ '^cs_[0-9a-f]{32}$');
alter table operator_sessions
  add column id text not null default 'os_' || replace(gen_random_uuid()::text, '-', ''),
  add column device text check (char_length(device) between 1 and 60),
  add column network text,
  add constraint operator_sessions_id_key unique (id),
  add constraint operator_sessions_id_check check (id ~ '^os_[0-9a-f]{32}$');

-- A link that was used stays until it would have expired: whoever uses it again leaves an entry in the audit trail.
alter table login_links add column used_at timestamptz;

-- Log-ins that failed come from an address too, and so do those of operators.
alter table audit_entries
  drop constraint audit_entries_check,
  add constraint audit_entries_check check (address is not null or actor_kind in ('operator', 'system'));

-- What the people of the tenant are told. The reason is for operators.
alter table tenant_status_changes add column told text check (char_length(told) between 1 and 500);

-- Mails about the account itself, which no setting turns off.
alter table mails
  drop constraint mails_kind_check,
  add constraint mails_kind_check check (kind in ('alert', 'receipt', 'account', 'console'));
