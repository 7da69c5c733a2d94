import { expect, test } from 'vitest';
import { makeWebhook } from '../../outward/webhooks/support.ts';
import { getPage, makeMember } from '../../support/console.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const EGRESS = ['203.0.113.7', '2001:db8::/64'];
const app = useService({ webhookEgress: EGRESS });

test('tenants read where requests come from: in each webhook, and before they create one', async () => {
  const tenant = await app.paidTenant();
  const { cookie } = await makeMember(app.service.deps.db, idOf(tenant));
  for (const each of EGRESS) expect((await getPage(app, '/console/webhooks', cookie)).text).toContain(each);
  const { id } = await makeWebhook(app, tenant, 'https://x.example/');
  const { key } = tenant;
  expect((await app.request('GET', `/v1/webhooks/${id}`, { key })).json.sent_from).toEqual(EGRESS);
  expect((await app.request('GET', '/v1/webhooks', { key })).json.webhooks[0].sent_from).toEqual(EGRESS);
});
