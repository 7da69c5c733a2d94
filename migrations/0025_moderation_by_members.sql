-- Members moderate rooms. Such an act has no key; the audit trail says whose it is.
alter table moderation_events
  drop constraint moderation_events_check1,
  add constraint moderation_events_check1 check (num_nonnulls(key_id, watchdog_id) <= 1);
