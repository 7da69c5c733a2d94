-- What an attempt sent, beside the event, so that the request can be shown.
alter table webhook_deliveries
  -- When it was signed: its `webhook-timestamp`. Null: an attempt of before this column.
  add column signed_at timestamptz,
  -- How many events its body said were deleted before they could be delivered.
  add column skipped bigint not null default 0 check (skipped >= 0);
