/** What tests of alerts share: thresholds, their events, and which events the ledger calls for. */
import type { Pool } from '../../../src/base/db/pool.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { expectOk } from '../../doors/rest/support.ts';
import { eventsOf } from '../../support/events.ts';
import type { TestService, TestTenant } from '../../support/service.ts';

export const balance = (micros: number | bigint) => ({ kind: 'balance', below_micros: Number(micros) });
export const runway = (hours: number) => ({ kind: 'runway', below_hours: hours });

export async function setAlerts(app: TestService, { key }: Pick<TestTenant, 'key'>, ...thresholds: object[]) {
  return expectOk(await app.request('PUT', '/v1/alerts', { key, body: { thresholds } })).thresholds;
}

/** Such as `balance_low 5 at 4`: the threshold, and the balance in micros. */
export async function alertsOf(db: Pool, tenant: TenantId): Promise<string[]> {
  const events = await eventsOf(db, tenant);
  return events
    .filter(({ type }) => /^(balance|runway)_/.test(type))
    .map(({ type, subject }) => `${type} ${subject.below ?? subject.belowHours} at ${subject.balance}`);
}

/** The alerts that the postings after `seq` call for: each balance in turn, compared with each threshold. */
export async function alertsByLedger(
  db: Pool,
  tenant: TenantId,
  thresholds: readonly number[],
  { after = 0, raised = new Set<number>() } = {},
): Promise<string[]> {
  const { rows } = await db.query<{ balance: string }>(
    'select balance::text from postings where tenant_id = $1 and seq > $2 order by seq',
    [tenant, after],
  );
  const alerts: string[] = [];
  for (const { balance: now } of rows) {
    for (const below of thresholds.toSorted((a, b) => a - b)) {
      if (raised.has(below) && Number(now) >= below) {
        raised.delete(below);
        alerts.push(`balance_recovered ${below} at ${now}`);
      }
    }
    for (const below of thresholds.toSorted((a, b) => b - a)) {
      if (!raised.has(below) && Number(now) < below) {
        raised.add(below);
        alerts.push(`balance_low ${below} at ${now}`);
      }
    }
  }
  return alerts;
}

export async function lastSeq(db: Pool, tenant: TenantId): Promise<number> {
  const { rows } = await db.query('select last_seq::int as seq from accounts where tenant_id = $1', [tenant]);
  return rows[0].seq ?? 0;
}
