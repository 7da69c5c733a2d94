import { expect, test } from 'vitest';
import { CONSOLE_STREAMS_LIMIT } from '../../../src/control/streams/stream-limit.ts';
import { LOOKS, PUBLIC_URL, useBrowser } from '../../support/browser.ts';
import { COOKIE, makeMember, sendForm } from '../../support/console.ts';
import { useService } from '../../support/service.ts';
import { idOf, limitedCaller } from '../../support/tenants.ts';
import { expectAccessible } from './support.ts';

const app = useService({ publicUrl: PUBLIC_URL });
const browser = useBrowser(app);

test('the balance on the overview changes by itself, and stops with the session', async () => {
  const tenant = await app.paidTenant();
  const member = await makeMember(app.service.deps.db, idOf(tenant));
  const { page, complaints } = await browser.open(LOOKS[0]!);
  await page.context().addCookies([{ name: COOKIE, value: member.secret, url: PUBLIC_URL }]);
  await page.goto(`${PUBLIC_URL}/console`);
  await page.getByText('New figures appear by themselves.').waitFor();
  const balance = page.locator('#cards .hint').first();
  const before = await balance.textContent();
  const record = { id: 'live', room: 'lobby', participant: 'ann', role: 'host', tier: 'hd', seconds: 60 };
  const records = [{ ...record, egress_bytes: 2 ** 30, ingress_bytes: 0 }];
  await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
  await expect.poll(() => balance.textContent()).not.toBe(before);
  await expectAccessible(page);
  await sendForm(app, '/console/logout', {}, member);
  await page.getByText('Your session is over.').waitFor();
  expect(complaints).toEqual([]);
});

test('an overview beyond the limit of open pages says so, and shows its figures', async () => {
  const tenant = await app.paidTenant();
  const member = await makeMember(app.service.deps.db, idOf(tenant));
  const caller = limitedCaller(idOf(tenant));
  for (let open = 0; open < CONSOLE_STREAMS_LIMIT.active; open += 1)
    app.service.deps.streams.enterPage(caller);
  const { page, complaints } = await browser.open(LOOKS[0]!);
  await page.context().addCookies([{ name: COOKIE, value: member.secret, url: PUBLIC_URL }]);
  await page.goto(`${PUBLIC_URL}/console`);
  await page.getByText('As many pages of your tenant as may be follow already.').waitFor();
  expect(await page.locator('#cards .figure').first().textContent()).toContain('$');
  expect(complaints).toEqual([]);
});
