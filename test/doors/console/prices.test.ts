/** What anybody may see of prices, and that an estimate is what a relay would be charged. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { ROLES, TIERS } from '../../../src/money/pricing/role.ts';
import { getPage, makeMember } from '../../support/console.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService();
const see = (query = '', cookie = '') => getPage(app, `/console/prices${query}`, cookie);

test('the card in effect is shown to everybody, and to members with their navigation', async () => {
  const { json: rates } = await app.request('GET', '/v1/rates');
  const { status, text } = await see();
  expect(status).toBe(200);
  for (const role of ROLES)
    for (const tier of TIERS) {
      const dollars = rates.ceiling_per_1000_participant_minutes[role][tier].display;
      expect(text).toContain(dollars);
    }
  expect(text).toContain(`>Log in</a>`);
  const { cookie } = await makeMember(app.service.deps.db, idOf(await app.signUp()), { role: 'finance' });
  expect((await see('', cookie)).text).toContain('<a href="/console/prices" aria-current="page">Prices</a>');
  expect((await getPage(app, '/')).text).toContain('href="/console/prices"');
});

test('a crowd that looks at them reads the card once', async () => {
  const read = vi.spyOn(app.service.deps.rates, 'current');
  onTestFinished(() => read.mockRestore());
  const answers = await Promise.all(Array.from({ length: 40 }, () => see()));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  expect(read.mock.calls.length).toBeLessThanOrEqual(1);
});

test.each([
  [{ people: 1, minutes: 1, role: 'host', tier: 'hd', gib: 0.001 }],
  [{ people: 250, minutes: 90, role: 'audience', tier: 'full_hd', gib: 1.5 }],
  [{ people: 100_000, minutes: 1_440, role: 'broadcast_audience', tier: '2k_plus', gib: 10_000 }],
  [{ people: 3, minutes: 7, role: 'audience', tier: 'audio', gib: 0 }],
])('an estimate of %j is that of the simulation', async (asked) => {
  const tenant = await app.paidTenant();
  const simulate = async (bytes: number) => {
    const { people: count, minutes, role, tier } = asked;
    const participants = [{ role, tier, count, seconds: minutes * 60, egress_bytes: bytes }];
    const { json } = await app.request('POST', '/v1/rates/simulate', {
      key: tenant.key,
      body: { participants },
    });
    return json.total.display.replace(/\B(?=(\d{3})+\.)/g, ',');
  };
  const query = new URLSearchParams(
    Object.entries(asked).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const { text } = await see(`?${query}`);
  expect(text).toContain(
    `<strong>${await simulate(Math.round(asked.gib * 2 ** 30))}</strong> with ${asked.gib} GiB`,
  );
  const most = await simulate(Number.MAX_SAFE_INTEGER);
  expect(text).toContain(`at most ${most},`);
  query.set('gib', '');
  expect((await see(`?${query}`)).text).toContain(`At most ${most}`);
});

test.each([
  ['people=0&minutes=1&role=host&tier=hd', 'people'],
  ['people=100001&minutes=1&role=host&tier=hd', 'people'],
  ['people=x&minutes=1&role=host&tier=hd', 'people'],
  ['people=1&minutes=1441&role=host&tier=hd', 'minutes'],
  ['people=1&minutes=1&role=host&tier=hd&gib=-1', 'gib'],
  ['people=1&minutes=1&role=host&tier=hd&gib=10001', 'gib'],
])('%s is told beside the field', async (query, wrong) => {
  const { status, text } = await see(`?${query}`);
  expect([status, text.includes(`id="${wrong}-fault"`)]).toEqual([400, true]);
});
