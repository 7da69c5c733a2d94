/** Requests whose body arrives when their key works no more. */
import { describe, expect, test } from 'vitest';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { rawRequest, sendBytes, setStatus } from './support.ts';

const app = useService();
const db = () => app.service.deps.db;

const record = (id: string) => ({
  ...{ id, room: 'lobby', participant: 'ann', role: 'host', tier: 'hd' },
  ...{ seconds: 60, egress_bytes: 1, ingress_bytes: 1 },
});

/** Sends the body once the key is known to have been looked up, and `meanwhile` is done. */
async function answerAfter(
  tenant: TestTenant,
  { line, key, body }: { line: string; key: string; body: object },
  meanwhile: () => Promise<unknown>,
) {
  const text = JSON.stringify(body);
  const head = rawRequest(`${line} HTTP/1.1`, {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
  });
  const count = async () => {
    await app.service.deps.lastUses.write();
    const { rows } = await db().query<{ uses: bigint }>(
      'select coalesce(sum(uses), 0)::bigint as uses from key_use_hours where tenant_id = $1 and key_id = $2',
      [idOf(tenant), key.slice(4, 20)],
    );
    return rows[0]!.uses;
  };
  const before = await count();
  const afterwards = async () => {
    await expect.poll(count).toBe(before + 1n);
    await meanwhile();
    return text;
  };
  return sendBytes(app.url, head, { afterwards });
}

const chargedBy = async (tenant: TestTenant) => {
  const { rows } = await db().query('select from usage_records where tenant_id = $1', [idOf(tenant)]);
  return rows.length;
};

describe('a body that arrives late', () => {
  test('is taken', async () => {
    const tenant = await app.paidTenant();
    const request = { line: 'POST /v1/usage', key: tenant.relayKey, body: { records: [record('late-1')] } };
    expect((await answerAfter(tenant, request, async () => {})).status).toBe(200);
    expect(await chargedBy(tenant)).toBe(1);
  });

  test('charges nothing once the key is revoked', async () => {
    const tenant = await app.paidTenant();
    const request = { line: 'POST /v1/usage', key: tenant.relayKey, body: { records: [record('late-2')] } };
    const answer = await answerAfter(tenant, request, async () => {
      const path = `/v1/keys/${tenant.relayKeyId}?confirm=stop-service`;
      expect((await app.request('DELETE', path, { key: tenant.key })).status).toBe(204);
    });
    expect([answer.status, answer.text]).toEqual([401, '{"error":"invalid api key"}']);
    expect(await chargedBy(tenant)).toBe(0);
  });

  test('changes nothing once the tenant is suspended', async () => {
    const tenant = await app.paidTenant();
    const body = { enabled: true, amount_cents: 2_000, below_cents: 500 };
    const made = await app.request('POST', '/v1/keys', {
      key: tenant.key,
      body: { name: 'late', kind: 'backend' },
    });
    const request = { line: 'PUT /v1/billing/auto-top-up', key: made.json.api_key as string, body };
    const answer = await answerAfter(tenant, request, () => setStatus(app, tenant, 'suspended'));
    expect([answer.status, answer.text]).toEqual([403, '{"error":"tenant is not active"}']);
  });
});
