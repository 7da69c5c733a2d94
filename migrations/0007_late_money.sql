-- Money that comes late: charges of unknown outcome, older checkouts, reversals, deleted tenants.

-- An attempt of unknown outcome is looked up before it is sent again, and not sent again once it is no
-- longer allowed.
alter table top_up_attempts
  -- When it was last sent again; null: it was sent once.
  add column resent_at timestamptz check (resent_at >= first_sent_at),
  -- How many idempotency keys it has used.
  add column keys smallint not null default 1 check (keys > 0),
  -- The provider repeats a stored error under the current key; from this time on, a new key may be used.
  add column new_key_at timestamptz;
-- When open attempts were last sent was not stored so far.
update top_up_attempts set resent_at = now() where state = 'unknown';

alter table payment_settings
  -- The consent to the saved card: when the checkout was paid, by the provider's clock, and when it was
  -- opened, because the provider counts whole seconds. Null: saved before these columns existed.
  add column card_paid_at timestamptz,
  add column card_checkout_at timestamptz,
  -- Payments that were refunded or disputed: no automatic top-up until the tenant turns it on again.
  add column reversed_payments text[] not null default '{}';

-- When the payment page is to be closed at the provider, because the tenant was deleted.
alter table checkouts add column expire_at timestamptz;
create index checkouts_to_expire on checkouts (expire_at) where state = 'open' and expire_at is not null;
update checkouts c set expire_at = now()
  from tenants t where t.id = c.tenant_id and t.status = 'deleted' and c.state = 'open';
