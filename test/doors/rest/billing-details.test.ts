import { beforeAll, describe, expect, test } from 'vitest';
import { type TestTenant, useService } from '../../support/service.ts';
import { expectError, expectOk, NOT_STRINGS, setStatus } from './support.ts';

const app = useService({ payments: false });
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.signUp();
});

const get = (key = tenant.key) => app.request('GET', '/v1/billing/details', { key });
const put = (body: unknown, key = tenant.key) => app.request('PUT', '/v1/billing/details', { key, body });
const ALL = { name: 'Ada Video GmbH', address: ['Am Kai 1', '20457 Hamburg'], tax_id: 'DE123456789' };

test('nothing is known at first', async () => {
  expect(expectOk(await get((await app.signUp()).key))).toStrictEqual({});
});

test('are replaced as a whole, of this tenant alone', async () => {
  const other = await app.signUp();
  expect(expectOk(await put(ALL))).toStrictEqual(ALL);
  expect(expectOk(await get())).toStrictEqual(ALL);
  expect(expectOk(await get(other.key))).toStrictEqual({});
  expect(expectOk(await put({ name: ' Ada ' }))).toStrictEqual({ name: 'Ada' });
  expect(expectOk(await put({ name: 'Ada', address: [] }))).toStrictEqual({ name: 'Ada' });
  expect(expectOk(await put({}))).toStrictEqual({});
  expect(expectOk(await get())).toStrictEqual({});
});

test('what changes nothing leaves no row and no entry in the audit trail', async () => {
  const fresh = await app.signUp();
  for (const body of [{}, ALL, ALL]) expectOk(await put(body, fresh.key));
  const path = '/v1/audit?action=billing_details_changed';
  const { entries } = expectOk(await app.request('GET', path, { key: fresh.key }));
  expect(entries).toMatchObject([{ before: { name: null, address: [], tax_id: null }, after: ALL }]);
});

test('the longest ones are kept, counted in characters', async () => {
  const longest = {
    name: '𝕬'.repeat(200),
    address: Array(6).fill('𝕬'.repeat(100)),
    tax_id: '𝕬'.repeat(50),
  };
  expect(expectOk(await put(longest))).toStrictEqual(longest);
});

describe('400', () => {
  const LINE = 'in one line, without control characters';
  test.each([
    [undefined, 'body must be object'],
    [{ vat: 'x' }, 'vat is not a known field'],
    [{ name: '' }, 'name must not be empty'],
    [{ name: 'a'.repeat(201) }, 'name must not have more than 200 characters'],
    [{ name: ' ' }, `name must be 1 to 200 characters ${LINE}`],
    [{ name: 'a\nb' }, `name must be 1 to 200 characters ${LINE}`],
    [{ address: Array(7).fill('a') }, 'address must not have more than 6 items'],
    [{ address: ['a', 'b\u007f'] }, `address/1 must be 1 to 100 characters ${LINE}`],
    [{ address: ['a'.repeat(101)] }, 'address/0 must not have more than 100 characters'],
    [{ tax_id: 'a'.repeat(51) }, 'tax_id must not have more than 50 characters'],
    [{ tax_id: 'a\u0085' }, `tax_id must be 1 to 50 characters ${LINE}`],
  ])('refuses the body %j', async (body, what) => {
    expectError(await put(body), 400, `invalid request: ${what}`);
  });

  test.each(NOT_STRINGS)('refuses the name %j', async (name) => {
    expectError(await put({ name }), 400, 'invalid request: name must be string');
  });
});

test('401: refuses a relay key', async () => {
  expectError(await get(tenant.relayKey), 401, 'invalid api key');
  expectError(await put(ALL, tenant.relayKey), 401, 'invalid api key');
});

test('403: refuses a tenant that is suspended', async () => {
  const fresh = await app.signUp();
  await setStatus(app, fresh, 'suspended');
  expectError(await put(ALL, fresh.key), 403, 'tenant is not active');
  expectError(await get(fresh.key), 403, 'tenant is not active');
});
