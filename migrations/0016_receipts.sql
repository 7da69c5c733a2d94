-- The tax that the customer paid with a payment, on top of the credit: `credited` is without it. A refund or dispute
-- of such a payment takes back the share of the credit only. Automatic top-ups have no tax.
alter table payments
  add column tax bigint not null default 0 check (tax >= 0),
  add constraint payments_tax_of_checkouts check (tax = 0 or kind = 'top_up');
