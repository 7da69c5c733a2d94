import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { makeMember, sendForm } from '../../support/console.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { makeWebhook } from './support.ts';

/** Where `localhost` also has an address that needs https: `::1`. */
const app = useService({ webhookNetworks: ['127.0.0.0/8'] });
const REFUSED = 'url must begin with https://: the name localhost resolves to an address that needs https';
const url = 'http://localhost:1/hook';

describe('plain http to a name that deliveries would refuse', () => {
  test('is refused at the creation and at a change', async () => {
    const { key } = await app.signUp();
    const made = await app.request('POST', '/v1/webhooks', { key, body: { url } });
    expect([made.status, made.json.error]).toEqual([400, `invalid request: ${REFUSED}`]);
    const { id } = await makeWebhook(app, { key }, 'http://127.0.0.1:1/hook');
    const changed = await app.request('PATCH', `/v1/webhooks/${id}`, { key, body: { url } });
    expect([changed.status, changed.json.error]).toEqual([400, `invalid request: ${REFUSED}`]);
  });

  test('may stay where it is', async () => {
    const tenant = await app.signUp();
    const { id } = await makeWebhook(app, tenant, 'http://127.0.0.1:1/hook');
    const { db } = app.service.deps;
    await db.query('update webhook_endpoints set url = $2 where id = $1', [id, url]);
    const body = { url, description: 'as before' };
    const changed = await app.request('PATCH', `/v1/webhooks/${id}`, { key: tenant.key, body });
    expect([changed.status, changed.json.url]).toEqual([200, url]);
  });

  test('is refused by the form of the console, beside the address', async () => {
    const tenant = await app.paidTenant();
    const { cookie } = await makeMember(app.service.deps.db, idOf(tenant));
    const fields = { form: randomUUID(), url, max_in_flight: '10' };
    const { status, text } = await sendForm(app, '/console/webhooks', fields, { cookie });
    expect([status, text]).toEqual([400, expect.stringContaining('the name localhost resolves to')]);
    expect(text).toContain('url-fault');
  });
});
