-- The attempts of a webhook that failed are listed by themselves, however few they are among those that did not.
create index webhook_deliveries_failed on webhook_deliveries (tenant_id, webhook_id, id)
  where status is null or status not between 200 and 299;
