import { beforeAll, describe, expect, test } from 'vitest';
import { newKey } from '../../../src/access/keys/api-key.ts';
import { authenticate, authenticateKey } from '../../../src/access/keys/authenticate.ts';
import { DEFAULT_CEILING } from '../../../src/access/rights/key-ceiling.ts';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { type TestTenant, useService } from '../../support/service.ts';

const app = useService({ payments: false });
let tenant: TestTenant;
const address = '192.0.2.1';
const callerWith = (key: string) => authenticateKey(app.service.deps, `Bearer ${key}`, address);

beforeAll(async () => {
  tenant = await app.signUp();
});

describe('authenticateKey', () => {
  test('returns the caller for a key of either kind', async () => {
    const caller = {
      tenant: parseTenantId(tenant.id),
      tenantStatus: 'pending',
      tenantLimits: null,
      ceiling: DEFAULT_CEILING,
    };
    const actor = (id: string) => ({ kind: 'key', id, address });
    expect(await callerWith(tenant.key)).toStrictEqual({
      ...caller,
      keyId: tenant.keyId,
      kind: 'backend',
      isTrusted: false,
      actor: actor(tenant.keyId),
    });
    expect(await callerWith(tenant.relayKey)).toStrictEqual({
      ...caller,
      keyId: tenant.relayKeyId,
      kind: 'relay',
      isTrusted: false,
      actor: actor(tenant.relayKeyId),
    });
  });

  test.each([
    ['nothing', undefined],
    ['another scheme', 'Basic c3Zj'],
    ['text that is no key', 'Bearer svc_0123'],
    ['a key that does not exist', `Bearer ${newKey('svc').plaintext}`],
    ['a device credential', `Bearer ${newKey('dev').plaintext}`],
  ])('refuses %s', async (_what, authorization) => {
    await expect(authenticateKey(app.service.deps, authorization, address)).rejects.toMatchObject({
      kind: 'invalid_api_key',
    });
  });
});

describe('authenticate', () => {
  test('refuses a working key of the other kind', async () => {
    const { deps } = app.service;
    const authorization = `Bearer ${tenant.relayKey}`;
    expect(await authenticate(deps, authorization, 'relay', address)).toMatchObject({ kind: 'relay' });
    await expect(authenticate(deps, authorization, 'backend', address)).rejects.toMatchObject({
      kind: 'invalid_api_key',
    });
  });
});
