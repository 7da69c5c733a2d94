/** A tenant whose ledger has all kinds of entries, for tests of the routes that read it. */

import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { lockAccount } from '../../../src/money/accounts/accounts.sql.ts';
import { appendPosting } from '../../../src/money/ledger/ledger.sql.ts';
import { type TestService, type TestTenant, usageRecord } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { expectOk } from './support.ts';

export const ROOMS = ['stage', 'lobby', '', 'Raum "ü", 1'] as const;
export const ROLES = ['host', 'audience', 'broadcast_audience'] as const;
export const TIERS = ['audio', 'hd', 'full_hd', '2k', '2k_plus'] as const;

let made = 0;

/** Records that differ in room, participant, role and tier, and cost odd amounts. */
export function manyRecords(count: number, fields: Record<string, unknown> = {}): Record<string, unknown>[] {
  return Array.from({ length: count }, () => {
    made += 1;
    const room = ROOMS[made % ROOMS.length]!;
    return usageRecord({
      ...(room && { room }),
      participant: `user-${made % 7}`,
      role: ROLES[made % ROLES.length],
      tier: TIERS[made % TIERS.length],
      seconds: made % 61,
      egress_bytes: 77_777 * (made % 13),
      ingress_bytes: made,
      ...fields,
    });
  });
}

export async function report(
  app: TestService,
  tenant: TestTenant,
  records: readonly Record<string, unknown>[],
) {
  return expectOk(await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } }));
}

export async function adjust(app: TestService, tenant: TestTenant, amount: bigint): Promise<void> {
  const id: TenantId = idOf(tenant);
  await inTransaction(app.service.deps.db, async (tx) =>
    appendPosting(tx, await lockAccount(tx, id), {
      kind: 'adjustment',
      amount,
      reference: `adjustment ${made}`,
    }),
  );
}

export async function setExempt(app: TestService, tenant: TestTenant, exempt: boolean): Promise<void> {
  await app.service.deps.db.query('update tenants set exempt = $2 where id = $1', [idOf(tenant), exempt]);
}
