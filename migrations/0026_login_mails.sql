-- Mails of the console are rows too: links to log in, and invitations. They tell about no event of the log.
alter table mails
  -- Null: a link to log in. It is for a person, who may be a member of several tenants.
  alter column tenant_id drop not null,
  -- Null: a mail of the console.
  alter column event_seq drop not null,
  -- The secret of a link, sealed. Erased once the mail was sent or has failed, and when the link has expired.
  add column sealed bytea,
  -- When the link of the mail expires. The mail is not sent afterwards.
  add column expires_at timestamptz,
  drop constraint mails_kind_check,
  drop constraint mails_state_check,
  add constraint mails_kind_check check (kind in ('alert', 'receipt', 'console')),
  -- `expired`: its link expired before it could be sent.
  add constraint mails_state_check
    check (state in ('waiting', 'sent', 'failed', 'kept', 'suppressed', 'expired')),
  add constraint mails_event_check check ((kind = 'console') = (event_seq is null)),
  add constraint mails_tenant_check check ((tenant_id is null) = (expires_at is not null)),
  add constraint mails_sealed_check check (sealed is null or (expires_at is not null and state in ('waiting', 'kept')));

-- People wait for mails of the console: they go first.
drop index mails_waiting;
create index mails_waiting on mails ((kind <> 'console'), next_at) where state = 'waiting';
create index mails_sealed on mails (expires_at) where sealed is not null;
