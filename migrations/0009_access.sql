-- Banned ranges of addresses are hashed in the revocation feed, which anyone may read. There are few enough ranges
-- to try them all, so each tenant has a secret that is hashed with them. Tokens carry it to relays.
-- The default is computed for each row, so each tenant has another one: 122 random bits.
alter table tenants
  add column range_salt text not null default replace(gen_random_uuid()::text, '-', '')
    check (range_salt ~ '^[0-9a-f]{32}$');
