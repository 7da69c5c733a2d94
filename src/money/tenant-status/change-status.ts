/** Change the status of a tenant, or exempt it from charging. Source: specification 3.1. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Pool, Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { Failure } from '../../base/failure.ts';
import { getTenant } from '../../base/tenants/get-tenant.ts';
import {
  admits,
  operatorMayMove,
  renderTenantId,
  type Tenant,
  type TenantId,
  type TenantStatus,
} from '../../base/tenants/tenant.ts';
import { lockTenant, updateExempt, updateStatus } from '../../base/tenants/tenants.sql.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { type Account, lockAccount } from '../accounts/accounts.sql.ts';
import { settleAlerts } from '../alerts/settle-alerts.ts';
import { tenantStatusChanged } from './status-events.ts';

/** The first payment makes a tenant active. */
const PAYMENTS: Actor = { kind: 'system', id: 'payments' };

/** Change the status as an operator. `told`: for the people of the tenant. Fails with `not_found` or `status_change_refused`. */
export async function changeStatus(
  db: Pool,
  actor: Actor,
  id: TenantId,
  status: TenantStatus,
  reason: string,
  told?: string,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { tenant, account } = await lockTenantAndAccount(tx, id);
    if (!operatorMayMove(tenant.status, status)) throw new Failure('status_change_refused');
    await moveStatus(tx, actor, { account, tenant, status, reason, told });
  });
}

/**
 * The first payment makes a pending tenant active. A later one changes no status. The account is locked;
 * returns it as it is then.
 */
export async function activate(tx: Tx, account: Account): Promise<Account> {
  const tenant = await lockTenant(tx, account.tenant);
  if (tenant?.status !== 'pending') return account;
  await moveStatus(tx, PAYMENTS, { account, tenant, status: 'active', reason: 'first payment' });
  return { ...account, status: 'active' };
}

/**
 * Exempt a tenant from charging, or end the exemption. Usage reported while exempt is never billed. Alerts rest
 * meanwhile, and are raised or ended when the exemption ends.
 */
export async function setExempt(db: Pool, actor: Actor, id: TenantId, exempt: boolean): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { tenant, account } = await lockTenantAndAccount(tx, id);
    await updateExempt(tx, id, exempt);
    if (exempt !== tenant.exempt) {
      await appendAudit(tx, id, actor, {
        action: 'tenant_exemption_changed',
        subject: renderTenantId(id),
        before: { exempt: tenant.exempt },
        after: { exempt },
      });
    }
    await appendStatusChange(tx, account, tenant, { ...tenant, exempt });
    if (!exempt) await settleAlerts(tx, id, account.balance);
  });
}

interface Move {
  readonly account: Account;
  readonly tenant: Tenant;
  readonly status: TenantStatus;
  readonly reason: string;
  readonly told?: string | undefined;
}

async function moveStatus(
  tx: Tx,
  actor: Actor,
  { account, tenant, status, reason, told }: Move,
): Promise<void> {
  await updateStatus(tx, tenant, status, reason, told);
  await appendAudit(tx, tenant.id, actor, {
    action: 'tenant_status_changed',
    subject: renderTenantId(tenant.id),
    before: { status: tenant.status },
    after: { status },
  });
  await appendStatusChange(tx, account, tenant, { ...tenant, status });
}

async function appendStatusChange(
  tx: Tx,
  { balance }: Account,
  before: Tenant,
  after: Tenant,
): Promise<void> {
  const change = {
    from: before.status,
    to: after.status,
    exempt: after.exempt,
    admitted: admits(after, balance),
  };
  await appendEvents(tx, after.id, [tenantStatusChanged(change)]);
}

/** Locks the account first, as every transaction that needs both must. Fails with `not_found`. */
async function lockTenantAndAccount(tx: Tx, id: TenantId): Promise<{ tenant: Tenant; account: Account }> {
  await getTenant(tx, id);
  const account = await lockAccount(tx, id);
  return { tenant: (await lockTenant(tx, id))!, account };
}
