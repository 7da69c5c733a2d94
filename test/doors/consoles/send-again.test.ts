/** A form whose sender has to log in first: the answer has what was typed, and the same browser sends it again. */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { newSecret } from '../../../src/access/sessions/session.ts';
import { COOKIE, logInByKey, makeMember, sendForm } from '../../support/console.ts';
import { makeOperator, sendOpsForm } from '../../support/operators.ts';
import { type Answer, type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const TITLE = 'Log in, then send this again';

const app = useService();
const db = () => app.service.deps.db;
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.paidTenant();
});

/** What the browser would send with the button, and where to. */
function readForm({ text }: Answer) {
  const plain = (value: string) =>
    value.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
  const [, path = ''] = /<form method="post" action="([^"]*)">/.exec(text) ?? [];
  const hidden = [...text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
  return { path, fields: Object.fromEntries(hidden.map(([, name, value]) => [name, plain(value!)])) };
}

async function balance(): Promise<number> {
  return (await app.request('GET', '/v1/billing', { key: tenant.key })).json.balance.micros;
}

const keyNames = async (): Promise<string[]> =>
  (await app.request('GET', '/v1/keys', { key: tenant.key })).json.keys.map(
    (key: { name: string }) => key.name,
  );

test.each([
  ['is older than ten minutes', () => makeOperator(db(), { minutesAgo: 11 }), '/console/confirm'],
  ['has ended', async () => ({ cookie: `boxoffice-operator=${newSecret().plaintext}` }), '/console/login'],
])('an operator whose log-in %s keeps a credit with its reason', async (_how, open, login) => {
  const path = `/console/tenants/${tenant.id}/credit`;
  const typed = { form: randomUUID(), dollars: '3', reason: '"late" <invoice> & more', reviewed: 'yes' };
  const before = await balance();
  const refused = await sendOpsForm(app, path, typed, await open());
  expect([refused.status, refused.text.includes(TITLE)]).toEqual([401, true]);
  expect(refused.text).toContain(`<a href="${login}" target="_blank" rel="noopener">`);
  expect(refused.headers.get('cache-control')).toBe('no-store');
  expect(readForm(refused)).toEqual({ path, fields: typed });
  expect(await balance()).toBe(before);
  const { cookie } = await makeOperator(db());
  expect((await sendOpsForm(app, path, readForm(refused).fields, { cookie })).status).toBe(200);
  expect(await balance()).toBe(before + 3_000_000);
});

test('a member whose session has ended keeps the name of a key', async () => {
  const typed = { form: randomUUID(), name: 'of the lobby', kind: 'relay' };
  const { cookie } = await makeMember(db(), idOf(tenant));
  await db().query('delete from console_sessions');
  const refused = await sendForm(app, '/console/keys', typed, { cookie });
  expect([refused.status, refused.text.includes(TITLE)]).toEqual([401, true]);
  expect(refused.text).toContain('goes to the tenant that you open');
  expect(await keyNames()).not.toContain('of the lobby');
  const { path, fields } = readForm(refused);
  expect((await sendForm(app, path, fields, { cookie: await logInByKey(app, tenant.key) })).status).toBe(200);
  expect(await keyNames()).toContain('of the lobby');
});

test('what confirms is typed again, and a form that is too large is not sent back', async () => {
  const cookie = `${COOKIE}=${newSecret().plaintext}`;
  const erasing = { participant: 'bob', confirm: 'erase' };
  const refused = await sendForm(app, '/console/people/erase', erasing, { cookie });
  expect(readForm(refused)).toEqual({ path: '/console/people/erase', fields: { participant: 'bob' } });
  const large = await sendForm(app, '/console/keys', { name: '"'.repeat(20_000), kind: 'relay' }, { cookie });
  expect(large.status).toBe(303);
});

test.each([
  ['from a browser without a session', { name: 'of the lobby', kind: 'relay' }, ''],
  ['in which nothing is typed', { form: randomUUID() }, `${COOKIE}=${newSecret().plaintext}`],
])('a form %s leads to the log-in', async (_what, fields, cookie) => {
  const refused = await sendForm(app, '/console/keys', fields as Record<string, string>, { cookie });
  expect([refused.status, refused.headers.get('location')]).toEqual([303, '/console/login?next=%2Fconsole']);
});

test('a form of another site is refused, and not shown', async () => {
  const cookie = `${COOKIE}=${newSecret().plaintext}`;
  const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  const refused = await sendForm(
    app,
    '/console/keys',
    { name: 'theirs', kind: 'relay' },
    { cookie, headers },
  );
  expect([refused.status, refused.text.includes('theirs')]).toEqual([403, false]);
});
