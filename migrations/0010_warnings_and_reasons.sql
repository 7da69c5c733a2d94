-- When a watchdog that has warned did so. It fires `warn_before_ms` later at the earliest.
alter table watchdogs add column warned_at timestamptz;
update watchdogs set warned_at = coalesce(looked_at, now()) where state = 'warned';
alter table watchdogs add constraint watchdogs_warned check ((state = 'warned') = (warned_at is not null));

-- Why the newest epoch began, for the revocation feed. A user who returns keeps it, because older tokens may
-- still be shown. Null: never expelled, or before this column.
alter table participants
  add column epoch_reason text check (epoch_reason in ('kicked', 'banned', 'ended', 'watchdog')),
  add constraint participants_epoch_reason check (epoch > 0 or epoch_reason is null);
update participants set epoch_reason = leave_reason
 where epoch > 0 and leave_reason <> 'expired' and revoked_at > now() - interval '16 minutes';
