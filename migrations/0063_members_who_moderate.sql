-- The person at the console who acted. `null`: a back end, a watchdog, an operator, or an act of before this column.
alter table moderation_events add column member_id text;
