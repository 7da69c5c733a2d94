-- A plan that a connection keeps is as old as the statistics it was made from. Those of a table that was nearly empty have one row
-- for each value, so that any index looks as good as the right one. PostgreSQL renews them within about a minute; the service asks
-- sooner, and only the owner of a table may analyze it.
create function analyze_grown_tables(growth float8, rows_min float8, rows_max float8) returns setof name
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  grown name;
begin
  for grown in
    select relname from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r' and reltuples < rows_max
       and pg_stat_get_live_tuples(oid) >= growth * greatest(reltuples, rows_min)
     order by pg_stat_get_live_tuples(oid)
  loop
    -- Another process may be at it.
    execute format('analyze (skip_locked) public.%I', grown);
    return next grown;
    -- What is done counts only when the statement ends, and it must end in time.
    exit when clock_timestamp() > statement_timestamp() + interval '3 seconds';
  end loop;
end
$$;

-- Without these, a tenant that is deleted, and a card that changes at the provider, would read a whole table.
create index checkouts_open on checkouts (tenant_id) where state = 'open' and expire_at is null;
create index payment_settings_by_card on payment_settings (payment_method_id) where payment_method_id is not null;
