-- Tokens that different keys asked for, or for different customers, have holds of their own: a token of another key does not take
-- an earlier one, which can still be used, out of the budget of its key.
update budget_holds set customer = '' where customer is null;
alter table budget_holds alter column customer set default '';
alter table budget_holds alter column customer set not null;
alter table budget_holds drop constraint budget_holds_pkey;
alter table budget_holds add primary key (tenant_id, room, username, device, key_id, customer);
