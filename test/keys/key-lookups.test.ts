import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { KeyLookups } from '../../src/keys/key-lookups.ts';
import { expectOk } from '../api/rest/support.ts';
import { type TestTenant, useService } from '../support/service.ts';

const app = useService();
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.signUp();
});

afterEach(() => {
  vi.restoreAllMocks();
});

const makeLookups = () => {
  const { db } = app.service.deps;
  return { lookups: new KeyLookups(db), query: vi.spyOn(db, 'query') };
};

test('all that are asked for in one turn are one statement, each id in it once', async () => {
  const { lookups, query } = makeLookups();
  const ids = [tenant.keyId, tenant.relayKeyId, '0123456789abcdef', tenant.keyId];
  const found = await Promise.all(ids.map((id) => lookups.find(id)));
  expect(found.map((key) => key?.kind)).toStrictEqual(['backend', 'relay', undefined, 'backend']);
  expect(query.mock.calls).toMatchObject([[{ values: [ids.slice(0, 3)] }]]);
});

test('a key that was found before is not found after its revocation', async () => {
  const { lookups } = makeLookups();
  const body = { name: 'x' };
  const { key } = expectOk(await app.request('POST', '/v1/keys', { key: tenant.key, body }), 201);
  expect(await lookups.find(key.id)).toMatchObject({ id: key.id });
  expectOk(await app.request('DELETE', `/v1/keys/${key.id}`, { key: tenant.key }), 204);
  expect(await lookups.find(key.id)).toBeUndefined();
});

test('a statement that fails, fails those who waited for it, and nobody else', async () => {
  const { lookups, query } = makeLookups();
  query.mockRejectedValueOnce(new Error('connection lost') as never);
  const waiting = await Promise.allSettled([lookups.find(tenant.keyId), lookups.find(tenant.relayKeyId)]);
  expect(waiting).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  expect(await lookups.find(tenant.keyId)).toMatchObject({ id: tenant.keyId });
});
