/** No key or secret is stored or returned in plaintext. */
import { describe, expect, test } from 'vitest';
import { databaseText, formsOf } from '../../support/database-text.ts';
import { useService } from '../../support/service.ts';
import { expectOk } from './support.ts';

const app = useService();

describe('the database', () => {
  test('contains no usable key', async () => {
    const tenant = await app.paidTenant();
    const rotated = expectOk(
      await app.request('POST', `/v1/keys/${tenant.keyId}/rotate`, { key: tenant.key }),
      201,
    );
    const wrong = `svc_0123456789abcdef_${'canary'.repeat(8).slice(0, 43)}`;
    await app.request('GET', '/v1/keys', { key: wrong });

    const text = await databaseText(app.service.deps.db);
    expect(text).toContain(tenant.keyId);
    for (const key of [tenant.key, tenant.relayKey, rotated.api_key as string, wrong]) {
      for (const form of formsOf(key.slice(21))) expect(text).not.toContain(form);
    }
    expect(text).not.toContain('sk_test_of_the_tests');
    for (const secret of app.service.deps.provider!.webhookSecrets) expect(text).not.toContain(secret);
  });
});

describe('an answer', () => {
  test('to a bad request repeats no key, wherever it was sent', async () => {
    const { key, relayKey } = await app.signUp();
    const answers = [
      await app.request('GET', '/v1/billing', { key: relayKey }),
      await app.request('POST', '/v1/usage', { key, body: { records: [] } }),
      await app.request('POST', `/v1/keys/${relayKey}/rotate`, { key }),
      await app.request('DELETE', `/v1/keys/${key}`, { key }),
      await app.request('GET', `/v1/${key}`, { key }),
      await app.request('GET', '/v1/keys', { headers: { authorization: `Basic ${key}` } }),
      await app.request('POST', '/v1/keys', { key, body: { name: 'x', kind: key } }),
      await app.request('POST', '/v1/keys', { key, raw: key }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBeGreaterThanOrEqual(400);
      for (const secret of [key.slice(21), relayKey.slice(21)]) {
        expect(answer.text).not.toContain(secret);
        expect(JSON.stringify([...answer.headers])).not.toContain(secret);
      }
    }
  });
});
