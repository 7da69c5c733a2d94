-- A regular expression that repeats up to a number of times takes PostgreSQL about five times as long as one that repeats at will: it builds
-- a state for each repetition, with each row. So lengths are compared apart. Each row that was allowed still is, and no other, so
-- the rows that are there are not read again.
alter table rooms
  drop constraint rooms_name_check,
  add constraint rooms_name_check
    check (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]*$' and char_length(name) <= 128) not valid;

alter table sessions
  drop constraint sessions_id_check,
  add constraint sessions_id_check check (id ~ '^se_[0-9a-f]+$' and char_length(id) = 35) not valid;

alter table events
  drop constraint events_type,
  add constraint events_type check (type ~ '^[a-z][a-z_]*$' and char_length(type) <= 63) not valid;

alter table unnumbered_events
  drop constraint unnumbered_events_type,
  add constraint unnumbered_events_type check (type ~ '^[a-z][a-z_]*$' and char_length(type) <= 63) not valid;
