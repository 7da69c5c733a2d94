import { beforeEach, describe, expect, test } from 'vitest';
import { changeCeiling } from '../../../src/access/keys/change-ceiling.ts';
import { DEFAULT_CEILING, type KeyCeiling } from '../../../src/access/rights/key-ceiling.ts';
import { expectOk } from '../../doors/rest/support.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';

const app = useService({ payments: false });
let tenant: TestTenant;
const low: KeyCeiling = {
  capabilities: ['chat.send'],
  roles: ['audience'],
  rooms: ['class-*', 'lobby'],
  rank: 20,
  lifetimeSeconds: 60,
};
const ceilingOf = async (id: string) => (await app.service.deps.keyLookups.find(id))?.ceiling;
const rotate = async (id: string) =>
  expectOk(await app.request('POST', `/v1/keys/${id}/rotate`, { key: tenant.key }), 201).key.id;

beforeEach(async () => {
  tenant = await app.signUp();
});

describe('changeCeiling', () => {
  test('changes the given fields and returns the whole ceiling', async () => {
    const { db } = app.service.deps;
    expect(await changeCeiling(db, OPERATOR, tenant.keyId, {})).toStrictEqual(DEFAULT_CEILING);
    const expected = { ...DEFAULT_CEILING, rank: 60 };
    expect(await changeCeiling(db, OPERATOR, tenant.keyId, { rank: 60 })).toStrictEqual(expected);
    expect(await ceilingOf(tenant.keyId)).toStrictEqual(expected);
    expect(await ceilingOf(tenant.relayKeyId)).toStrictEqual(DEFAULT_CEILING);
    // Only the second call changed anything.
    const { rows } = await db.query(
      `select after from audit_entries where tenant_id = $1 and action = 'key_ceiling_changed'`,
      [idOf(tenant)],
    );
    expect(rows).toEqual([{ after: { rank: 60 } }]);
  });

  test('two concurrent changes both take effect', async () => {
    const { db } = app.service.deps;
    await Promise.all([
      changeCeiling(db, OPERATOR, tenant.keyId, { rank: 60 }),
      changeCeiling(db, OPERATOR, tenant.keyId, { rooms: ['lobby'] }),
      changeCeiling(db, OPERATOR, tenant.keyId, { lifetimeSeconds: 5 }),
    ]);
    expect(await ceilingOf(tenant.keyId)).toStrictEqual({
      ...DEFAULT_CEILING,
      rank: 60,
      rooms: ['lobby'],
      lifetimeSeconds: 5,
    });
  });

  test('the successor of a rotated key keeps its ceiling, whichever key rotates it', async () => {
    await changeCeiling(app.service.deps.db, OPERATOR, tenant.relayKeyId, low);
    expect(await ceilingOf(await rotate(tenant.relayKeyId))).toStrictEqual(low);
    await changeCeiling(app.service.deps.db, OPERATOR, tenant.keyId, low);
    const replaced = await rotate(tenant.keyId);
    expect(await ceilingOf(replaced)).toStrictEqual(low);
    expect(await ceilingOf(await rotate(replaced))).toStrictEqual(low);
  });

  test('a key inherits the ceiling of the key that created it', async () => {
    const create = async () =>
      expectOk(await app.request('POST', '/v1/keys', { key: tenant.key, body: { name: 'x' } }), 201).key.id;
    expect(await ceilingOf(await create())).toStrictEqual(DEFAULT_CEILING);
    await changeCeiling(app.service.deps.db, OPERATOR, tenant.keyId, low);
    expect(await ceilingOf(await create())).toStrictEqual(low);
  });
});
