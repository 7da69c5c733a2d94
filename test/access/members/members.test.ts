import { expect, test } from 'vitest';
import {
  deleteMember,
  insertMember,
  markJoined,
  markReviewed,
  noteMemberUse,
  updateRole,
} from '../../../src/access/members/members.sql.ts';
import type { Tx } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase();

test.each<[string, (tx: Tx, tenant: TenantId, id: string) => Promise<unknown>]>([
  ['joins', (tx, tenant, id) => markJoined(tx, tenant, id, { mustReview: true })],
  ['is used', noteMemberUse],
  ['has reviewed', markReviewed],
  ['gets a role', (tx, tenant, id) => updateRole(tx, tenant, id, 'owner')],
  ['is deleted', deleteMember],
])('when a member %s, only its own tenant can change it, and no other row changes', async (_what, change) => {
  const { pool } = database;
  const [own, other] = [await makeTenant(pool), await makeTenant(pool)];
  const [member] = await inTransaction(pool, async (tx) => {
    const made = [];
    for (const [tenant, email] of [
      [own, 'ann@example.com'],
      [own, 'bob@example.com'],
      [other, 'ann@example.com'],
    ] as const) {
      made.push(await insertMember(tx, tenant, { email, role: 'viewer' }));
    }
    return made;
  });
  const tenants = [own, other];
  await pool.query(
    `update members set joined_at = now() - interval '1 day', last_used_at = now() - interval '1 day', must_review = true
      where tenant_id = any($1)`,
    [tenants],
  );
  const rows = async () => {
    const found = await pool.query(
      'select * from members where tenant_id = any($1) order by tenant_id, email',
      [tenants],
    );
    return new Map(found.rows.map((row) => [row.id, row]));
  };
  const before = await rows();
  await inTransaction(pool, (tx) => change(tx, other, member!.id));
  expect(await rows()).toEqual(before);
  await inTransaction(pool, (tx) => change(tx, own, member!.id));
  const after = await rows();
  expect(after.get(member!.id)).not.toEqual(before.get(member!.id));
  for (const each of [before, after]) each.delete(member!.id);
  expect(after).toEqual(before);
  expect(after.size).toBe(2);
});
