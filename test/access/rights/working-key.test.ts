import { beforeAll, expect, test } from 'vitest';
import { findKey } from '../../../src/access/keys/keys.sql.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { useDatabase } from '../../support/database.ts';
import { makeKey, makeTenant } from '../../support/tenants.ts';

const database = useDatabase();
let tenant: TenantId;
beforeAll(async () => {
  tenant = await makeTenant(database.pool);
});

/** What a key looks like in a transaction that began `elapsed` after it retired. */
async function readRetired(elapsed: string) {
  const { id } = await makeKey(database.pool, tenant, 'backend');
  return inTransaction(database.pool, async (tx) => {
    const { rows } = await tx.query<{ at: Date }>(
      'update api_keys set retires_at = now() - $2::interval where id = $1 returning retires_at as at',
      [id, elapsed],
    );
    return { key: await findKey(tx, tenant, id), at: rows[0]!.at };
  });
}

test('a key is retiring until its time', async () => {
  const { key, at } = await readRetired('-1 second');
  expect(key).toMatchObject({ retiresAt: at, revokedAt: null });
});

test.each(['0 seconds', '1 second'])(
  'a key that retired %s ago has been revoked since then',
  async (elapsed) => {
    const { key, at } = await readRetired(elapsed);
    expect(key).toMatchObject({ retiresAt: null, revokedAt: at });
  },
);
