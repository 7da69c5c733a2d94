-- When a watchdog that has warned did so. It fires `warn_before_ms` later at the earliest.
alter table watchdogs add column warned_at timestamptz;
update watchdogs set warned_at = coalesce(looked_at, now()) where state = 'warned';
alter table watchdogs add constraint watchdogs_warned check ((state = 'warned') = (warned_at is not null));
