-- A webhook chooses the format of its events, and how many a request has. See src/outward/webhooks/webhook-body.ts.
alter table webhook_endpoints
  add column format    text not null default 'boxoffice' check (format in ('boxoffice', 'cloudevents')),
  -- Events in one request. 1: each has a request of its own.
  add column max_batch integer not null default 1 check (max_batch between 1 and 100);

alter table webhook_deliveries
  add column format   text not null default 'boxoffice',
  -- The id of the request that several events were sent in. Null: the event has its own.
  add column batch_id text;
