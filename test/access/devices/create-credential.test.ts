/** The limit of live device credentials. What else creation does is tested with the doors. */
import { beforeEach, describe, expect, test } from 'vitest';
import { expectError, expectOk } from '../../doors/rest/support.ts';
import { changeReferenceTable } from '../../support/reference-tables.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf, setLimits } from '../../support/tenants.ts';

const app = useService({ payments: false });
let tenant: TestTenant;

const create = (fields = {}) =>
  app.request('POST', '/v1/device-credentials', {
    key: tenant.key,
    body: { name: 'a kiosk', publish: [], ...fields },
  });
const rotate = (id: string) =>
  app.request('POST', `/v1/device-credentials/${id}/rotate`, { key: tenant.key });
const FULL = 'limit reached: at most 2 live device credentials';

beforeEach(async () => {
  tenant = await app.signUp();
  await setLimits(app.service.deps.db, tenant, { device_credentials: 2 });
});

describe('the limit of live device credentials', () => {
  test('of concurrent creations, as many succeed as there are places', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => create()));
    expect(answers.map(({ status }) => status).sort()).toStrictEqual([201, 201, 409, 409, 409]);
    expectError(await create(), 409, FULL);
  });

  test('revoked and expired ones do not count', async () => {
    const { device_credential: revoked } = expectOk(await create(), 201);
    const { device_credential: expired } = expectOk(
      await create({ expires_at: '2999-01-01T00:00:00Z' }),
      201,
    );
    expectError(await create(), 409, FULL);
    expectOk(await app.request('DELETE', `/v1/device-credentials/${revoked.id}`, { key: tenant.key }), 204);
    expectOk(await create(), 201);
    expectError(await create(), 409, FULL);
    await changeReferenceTable(
      app.service.deps.db,
      `update device_credentials set expires_at = now() where tenant_id = $1 and id = $2`,
      [idOf(tenant), expired.id],
    );
    expectOk(await create(), 201);
    expectError(await create(), 409, FULL);
  });

  test('what was revoked within 15 minutes counts by itself, for creations and rotations', async () => {
    const revoke = (id: string) => app.request('DELETE', `/v1/device-credentials/${id}`, { key: tenant.key });
    const TOO_MANY = 'limit reached: at most 2 device credentials revoked in 15 minutes';
    for (let count = 0; count < 2; count += 1) {
      expectOk(await revoke(expectOk(await create(), 201).device_credential.id), 204);
    }
    expectError(await create(), 409, TOO_MANY);
    await changeReferenceTable(
      app.service.deps.db,
      `update device_credentials set revoked_at = now() - interval '10 minutes' where tenant_id = $1`,
      [idOf(tenant)],
    );
    expectError(await create(), 409, TOO_MANY);
    await changeReferenceTable(
      app.service.deps.db,
      `update device_credentials set revoked_at = now() - interval '15 minutes' where tenant_id = $1`,
      [idOf(tenant)],
    );
    let { id } = expectOk(await create(), 201).device_credential;
    for (let count = 0; count < 2; count += 1) {
      const rotated = expectOk(await rotate(id), 201).device_credential.id;
      expectOk(await revoke(id), 204);
      id = rotated;
    }
    expectError(await rotate(id), 409, TOO_MANY);
    expectOk(await revoke(id), 204);
  });

  test('rotation works when full, up to as many retiring credentials as the limit', async () => {
    let { id } = expectOk(await create(), 201).device_credential;
    expectOk(await create(), 201);
    for (let count = 0; count < 2; count += 1) id = expectOk(await rotate(id), 201).device_credential.id;
    expectError(await create(), 409, FULL);
    expectError(await rotate(id), 409, 'limit reached: at most 2 retiring device credentials');
  });

  test('of concurrent rotations for the last place, one succeeds', async () => {
    const made = [expectOk(await create(), 201), expectOk(await create(), 201)];
    const [first, second] = made.map(({ device_credential }) => device_credential.id);
    const { id } = expectOk(await rotate(first), 201).device_credential;
    const answers = await Promise.all([rotate(id), rotate(second)]);
    expect(answers.map(({ status }) => status).sort()).toStrictEqual([201, 409]);
  });
});
