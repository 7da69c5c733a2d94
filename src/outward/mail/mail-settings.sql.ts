/** SQL of `mail_settings` and `mail_unsubscribes`. */
import type { Db, Tx } from '../../base/db/pool.ts';
import type { TenantId, TenantStatus } from '../../base/tenants/tenant.ts';
import type { MailRecipients, MailSettings } from './mail-settings.ts';

export interface TenantMail extends MailRecipients {
  readonly status: TenantStatus;
}

/** The settings of a tenant; a tenant without a row has the defaults of the table. */
export async function findMailSettings(db: Db, tenant: TenantId): Promise<TenantMail> {
  const { rows } = await db.query<TenantMail>({
    name: 'find-mail-settings',
    text: `select t.email, t.status, coalesce(s.signup_address, true) as "signupAddress",
                  coalesce(s.addresses, '{}') as addresses, coalesce(s.alerts, true) as alerts,
                  coalesce(s.receipts, true) as receipts,
                  array(select u.address from mail_unsubscribes u
                         where u.tenant_id = t.id order by u.address) as unsubscribed,
                  array(select m.email from members m
                         where m.tenant_id = t.id and m.role = 'owner' and m.joined_at is not null
                         order by m.created_at, m.id) as owners,
                  case when t.status = 'pending' then
                    array(select m.email from members m where m.tenant_id = t.id and m.joined_at is not null)
                  end as reachable
             from tenants t left join mail_settings s on s.tenant_id = t.id where t.id = $1`,
    values: [tenant],
  });
  return rows[0]!;
}

export async function upsertMailSettings(tx: Tx, tenant: TenantId, settings: MailSettings): Promise<void> {
  await tx.query({
    name: 'upsert-mail-settings',
    text: `insert into mail_settings (tenant_id, signup_address, addresses, alerts, receipts)
           values ($1, $2, $3, $4, $5)
           on conflict (tenant_id) do update
              set signup_address = excluded.signup_address, addresses = excluded.addresses,
                  alerts = excluded.alerts, receipts = excluded.receipts`,
    values: [tenant, settings.signupAddress, settings.addresses, settings.alerts, settings.receipts],
  });
}

/** `address`: in lower case. */
export async function insertUnsubscribe(db: Db, tenant: TenantId, address: string): Promise<void> {
  await db.query({
    name: 'insert-mail-unsubscribe',
    text: `insert into mail_unsubscribes (tenant_id, address)
           select id, $2 from tenants where id = $1 on conflict do nothing`,
    values: [tenant, address],
  });
}

/** `address`: in lower case. */
export async function deleteUnsubscribe(db: Db, tenant: TenantId, address: string): Promise<void> {
  await db.query({
    name: 'delete-mail-unsubscribe',
    text: 'delete from mail_unsubscribes where tenant_id = $1 and address = $2',
    values: [tenant, address],
  });
}

/** `undefined`: there is no such tenant. `address`: in lower case. */
export async function findUnsubscribe(
  db: Db,
  tenant: TenantId,
  address: string,
): Promise<{ readonly tenantName: string; readonly unsubscribed: boolean } | undefined> {
  const { rows } = await db.query<{ tenantName: string; unsubscribed: boolean }>({
    name: 'find-mail-unsubscribe',
    text: `select name as "tenantName",
                  exists (select from mail_unsubscribes where tenant_id = $1 and address = $2) as unsubscribed
             from tenants where id = $1`,
    values: [tenant, address],
  });
  return rows[0];
}
