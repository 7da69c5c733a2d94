-- Processes of the service say twice a second that they live, so that the others know which of them are gone: what a
-- gone process had leased is free at once.
create table processes (
  id         text primary key,
  started_at timestamptz not null default now(),
  seen_at    timestamptz not null default now(),
  -- Another process has seen nothing of it for too long, or it has ended. It never comes back under this id.
  gone_at    timestamptz
) with (fillfactor = 50);

-- Which lane a webhook's requests take: see src/outward/webhooks/delivery-lane.ts.
alter table webhook_cursors
  add column standing  integer not null default 0,
  -- The process that has the lease.
  add column leased_by text;

-- Those that fail now begin in the slow lanes.
update webhook_cursors set standing = -10 where failures > 0;
