-- A member is a person who proved the address and said yes. Until then the row is an invitation: no list of tenants has it, and
-- no log-in opens it.
alter table members
  -- The address of the signup.
  add column is_founder boolean not null default false,
  -- When the person last opened the tenant. Log-ins open the tenant that was used last.
  add column last_used_at timestamptz,
  -- A founder who has yet to say what to keep of what existed before the address was proved.
  add column must_review boolean not null default false;

-- Ids are collected in arrays, because the tables may lie on several servers.
do $$
declare
  chosen text[];
  changed record;
begin
  select array_agg(m.id) into chosen
    from members m join tenants t on t.id = m.tenant_id where m.email = lower(t.email);
  update members set is_founder = true where id = any (chosen);

  update members m set last_used_at = greatest(m.joined_at, (
           select max(s.seen_at) from console_sessions s
            where s.tenant_id = m.tenant_id and s.member_id = m.id and s.proof <> 'signup'))
   where m.joined_at is not null;

  -- A key is trusted if it was made by a person of the tenant who had proved an address, by an operator, or by a trusted key.
  alter table api_keys add column trusted boolean not null default false;
  select array_agg(k.id) into chosen
    from api_keys k join members m on m.tenant_id = k.tenant_id
   where m.is_founder and m.joined_at <= k.created_at;
  update api_keys set trusted = true where id = any (chosen);
  select array_agg(distinct m.id) into chosen
    from members m join api_keys k on k.tenant_id = m.tenant_id
   where m.is_founder and m.joined_at is not null and m.role = 'owner' and not k.trusted and k.revoked_at is null;
  update members set must_review = true where id = any (chosen);

  alter table payment_settings
    -- The member who paid with the saved card; null: it was paid without one who had proved an address.
    add column card_member text,
    -- The key that made the settings of automatic top-ups, if it is not trusted.
    add column top_up_key text;
  for changed in
    select distinct on (tenant_id) tenant_id, actor_kind, actor_id from audit_entries
     where action = 'auto_top_up_changed' order by tenant_id, seq desc
  loop
    if changed.actor_kind = 'key'
      and exists (select from api_keys where id = changed.actor_id and not trusted) then
      update payment_settings set top_up_key = changed.actor_id where tenant_id = changed.tenant_id;
    end if;
  end loop;
end $$;

-- What a signup opened without a proof ends with the proof.
delete from console_sessions s using members m
 where s.proof = 'signup' and m.tenant_id = s.tenant_id and m.id = s.member_id and m.joined_at is not null;

alter table members add constraint members_used_check check ((last_used_at is null) = (joined_at is null));

-- Strangers may sign up with the address of a person as often as they like: that costs the list of the person's tenants nothing.
drop index members_by_email;
create index members_joined on members (email, last_used_at desc, tenant_id desc) where joined_at is not null;
create index members_invited on members (email, created_at desc, tenant_id desc) where joined_at is null;

-- The member who opened it, with an address that was proved.
alter table checkouts add column member_id text;

-- A log-in that has to ask first continues on the page of a link, whatever proved the address.
alter table login_links
  add column passkey_id text references passkeys on delete cascade,
  drop constraint login_links_proof_check,
  drop constraint login_links_check,
  drop constraint login_links_check3,
  add constraint login_links_proof_check check (proof in ('mail', 'passkey', 'oidc', 'key', 'operator')),
  add constraint login_links_email_check check ((email is not null) = (proof not in ('key', 'operator'))),
  add constraint login_links_passkey_check check ((passkey_id is not null) = (proof = 'passkey')),
  add constraint login_links_tenant_check check (tenant_id is not null or proof not in ('key', 'operator'));
create index login_links_of_passkey on login_links (passkey_id) where passkey_id is not null;

-- What a founder decided to keep, of what existed before the address was proved.
create table kept_access (
  tenant_id bigint not null references tenants,
  kind      text not null check (kind in ('key', 'device', 'webhook', 'member')),
  id        text not null,
  kept_at   timestamptz not null default now(),
  primary key (tenant_id, kind, id)
);
