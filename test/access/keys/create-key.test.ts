/** The limit of live API keys. What else creation does is tested with `POST /v1/keys`. */
import { beforeEach, describe, expect, test } from 'vitest';
import { expectError, expectOk } from '../../doors/rest/support.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { setLimits } from '../../support/tenants.ts';

const app = useService({ payments: false });
let tenant: TestTenant;

const create = () => app.request('POST', '/v1/keys', { key: tenant.key, body: { name: 'one more' } });
const rotate = (id: string, overlap?: number) =>
  app.request('POST', `/v1/keys/${id}/rotate`, {
    key: tenant.key,
    body: overlap === undefined ? {} : { overlap_seconds: overlap },
  });
const limit = (keys: number) => setLimits(app.service.deps.db, tenant, { api_keys: keys });
const full = (most: number) => `limit reached: at most ${most} live API keys`;

beforeEach(async () => {
  tenant = await app.signUp();
});

describe('the limit of live API keys', () => {
  test('a tenant that never paid has ten; the eleventh is refused', async () => {
    // It has one backend key and one relay key.
    for (let count = 2; count < 10; count += 1) expectOk(await create(), 201);
    expectError(await create(), 409, full(10));
  });

  test('of concurrent creations for the last place, one succeeds', async () => {
    await limit(3);
    const answers = await Promise.all(Array.from({ length: 5 }, create));
    expect(answers.map(({ status }) => status).sort()).toStrictEqual([201, 409, 409, 409, 409]);
  });

  test('a revoked key makes room', async () => {
    await limit(3);
    const { key } = expectOk(await create(), 201);
    expectError(await create(), 409, full(3));
    expectOk(await app.request('DELETE', `/v1/keys/${key.id}`, { key: tenant.key }), 204);
    expectOk(await create(), 201);
    expectError(await create(), 409, full(3));
  });

  test('a tenant beyond its limit keeps its keys', async () => {
    await limit(1);
    expectError(await create(), 409, full(1));
    expectOk(await app.request('GET', '/v1/keys', { key: tenant.key }));
  });

  test('rotation works when full, and makes no room', async () => {
    await limit(2);
    expectOk(await rotate(tenant.relayKeyId), 201);
    expectOk(await rotate(tenant.keyId), 201);
    expectError(await create(), 409, full(2));
  });

  test('no more keys than the limit are retiring, but a rotation without an overlap always works', async () => {
    await limit(2);
    let { id } = expectOk(await rotate(tenant.relayKeyId), 201).key;
    id = expectOk(await rotate(id), 201).key.id;
    expectError(await rotate(id), 409, 'limit reached: at most 2 retiring API keys');
    expectOk(await rotate(id, 0), 201);
  });
});
