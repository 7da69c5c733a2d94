import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { KeyLookups } from '../../../src/access/keys/key-lookups.ts';
import { openPool, type Pool } from '../../../src/base/db/pool.ts';
import { expectOk } from '../../doors/rest/support.ts';
import { type TestTenant, useService } from '../../support/service.ts';

const app = useService();
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.signUp();
});

const pools: Pool[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(pools.splice(0).map((pool) => pool.end()));
});

/** On a pool of its own. */
const makeLookups = () => {
  const db = openPool(app.config.databaseUrl);
  pools.push(db);
  return { lookups: new KeyLookups(db), query: vi.spyOn(db, 'query') };
};

test('look-ups of one turn share a statement with each id once', async () => {
  const { lookups, query } = makeLookups();
  const ids = [tenant.keyId, tenant.relayKeyId, '0123456789abcdef', tenant.keyId];
  const found = await Promise.all(ids.map((id) => lookups.find(id)));
  expect(found.map((key) => key?.kind)).toStrictEqual(['backend', 'relay', undefined, 'backend']);
  expect(query.mock.calls).toMatchObject([[{ values: [ids.slice(0, 3)] }]]);
});

test('a key that was found working before is not found working after its revocation', async () => {
  const { lookups } = makeLookups();
  const body = { name: 'x' };
  const { key } = expectOk(await app.request('POST', '/v1/keys', { key: tenant.key, body }), 201);
  expect(await lookups.find(key.id)).toMatchObject({ id: key.id, isWorking: true });
  expectOk(await app.request('DELETE', `/v1/keys/${key.id}`, { key: tenant.key }), 204);
  expect(await lookups.find(key.id)).toMatchObject({ isWorking: false });
});

test('a failed statement fails only the look-ups that share it', async () => {
  const { lookups, query } = makeLookups();
  query.mockRejectedValueOnce(new Error('connection lost') as never);
  const waiting = await Promise.allSettled([lookups.find(tenant.keyId), lookups.find(tenant.relayKeyId)]);
  expect(waiting).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  expect(await lookups.find(tenant.keyId)).toMatchObject({ id: tenant.keyId });
});

test('two thousand different ids in one turn share one statement', async () => {
  const { lookups, query } = makeLookups();
  const unknown = Array.from({ length: 2_000 }, (_, at) => at.toString(16).padStart(16, '0'));
  const ids = [...unknown, tenant.keyId, ...unknown, tenant.relayKeyId];
  const found = await Promise.all(ids.map((id) => lookups.find(id)));
  expect(found.filter((key) => key !== undefined).map(({ id }) => id)).toStrictEqual([
    tenant.keyId,
    tenant.relayKeyId,
  ]);
  expect(query.mock.calls).toHaveLength(1);
});

test('look-ups during a statement go into the next one', async () => {
  const { lookups, query } = makeLookups();
  const first = lookups.find(tenant.keyId);
  await expect.poll(() => query.mock.calls.length).toBe(1);
  const second = lookups.find(tenant.keyId);
  expect([await first, await second]).toMatchObject([{ id: tenant.keyId }, { id: tenant.keyId }]);
  expect(query).toHaveBeenCalledTimes(2);
});

test('a key is refused from the moment of its revocation, even under load', async () => {
  const relay = expectOk(
    await app.request('POST', '/v1/keys', { key: tenant.key, body: { name: 'busy', kind: 'relay' } }),
    201,
  );
  const report = () => app.request('POST', '/v1/usage', { key: relay.api_key, body: { records: [] } });
  let isRevoked = false;
  const late: number[] = [];
  const early: number[] = [];
  const lanes = Array.from({ length: 16 }, async () => {
    for (let after = 0; after < 3; ) {
      const wasRevoked = isRevoked;
      const { status } = await report();
      (wasRevoked ? late : early).push(status);
      if (wasRevoked) after += 1;
    }
  });
  await vi.waitFor(() => expect(early.length).toBeGreaterThan(50), { timeout: 60_000 });
  expectOk(await app.request('DELETE', `/v1/keys/${relay.key.id}`, { key: tenant.key }), 204);
  isRevoked = true;
  await Promise.all(lanes);
  expect(early.slice(0, 50)).toStrictEqual(Array(50).fill(200));
  expect(new Set(late)).toStrictEqual(new Set([401]));
  expect(late).toHaveLength(48);
});
