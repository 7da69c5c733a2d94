/** What was left at the ends of grants, worked out again. */
import { expect, test } from 'vitest';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { endGrants } from '../../../src/money/grants/end-grants.ts';
import { grantCredit, voidGrant } from '../../../src/money/grants/grant-credit.ts';
import { compareGrantEnds } from '../../../src/money/verification/compare-grant-ends.ts';
import { useService } from '../../support/service.ts';
import { makeTenant, OPERATOR } from '../../support/tenants.ts';
import { pass, spend } from '../grants/support.ts';

const app = useService();
const db = () => app.service.deps.db;

/** Three grants of 10: usage spends the first, 6 are left at the end of the second, the third is voided. */
async function endThree(): Promise<{ tenant: TenantId; ids: readonly string[] }> {
  const tenant = await makeTenant(db(), { status: 'active' });
  const ids: string[] = [];
  for (const days of [5, 10, 15]) {
    const expiresAt = new Date(Date.now() + days * 86_400_000);
    const given = { amount: 10n, reason: 'a gift', expiresAt, key: undefined };
    ids.push((await grantCredit(db(), OPERATOR, tenant, given)).grant.id);
  }
  await spend(db(), tenant, 14n);
  await pass(db(), tenant, 10);
  await endGrants(app.service.deps);
  await spend(db(), tenant, 1n);
  await voidGrant(db(), OPERATOR, tenant, { id: ids[2]!, reason: 'a mistake' });
  return { tenant, ids };
}

test('ends as they were made agree, and each one that was changed is named', async () => {
  const { tenant, ids } = await endThree();
  expect(await compareGrantEnds(db())).toEqual([]);
  const [, expired, voided] = ids;
  const change = (set: string, id: string) => db().query(`update grants set ${set} where id = $1`, [id]);
  await change('forfeited = forfeited - 1', voided!);
  await change('last_seq = last_seq + 1', expired!);
  expect(await compareGrantEnds(db())).toEqual([
    { tenant, what: `last posting paid by grant ${expired}`, expected: '4', found: '5' },
    { tenant, what: `left at the end of grant ${voided}`, expected: '9', found: '8' },
  ]);
});
