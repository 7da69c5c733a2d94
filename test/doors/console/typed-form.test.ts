/** What was typed into a form whose log-in was not recent any more: it is in the form again after the log-in, and nowhere else. */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { KEPT_BYTES_MAX, KEPT_FORMS_MAX } from '../../../src/access/sessions/keep-form.ts';
import { newSecret, type Proof } from '../../../src/access/sessions/session.ts';
import { insertSession } from '../../../src/access/sessions/sessions.sql.ts';
import { ROUTES } from '../../../src/doors/console/routes.ts';
import { sweep } from '../../../src/run/sweep.ts';
import {
  COOKIE,
  cookieOf,
  getPage,
  logInByKey,
  makeMailLog,
  makeMember,
  sendForm,
  type TestMember,
} from '../../support/console.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const NOTE = 'Here is what you typed. It is not saved yet.';

const mails = makeMailLog();
const app = useService({ log: mails.log, isRestricted: true, publicUrl: 'http://localhost:8080' });
const db = () => app.service.deps.db;
let tenant: TestTenant;
let owner: TestMember;
let webhook: string;

beforeAll(async () => {
  tenant = await app.paidTenant();
  owner = await makeMember(db(), idOf(tenant), { minutesAgo: 11 });
  const made = await app.request('POST', '/v1/webhooks', {
    key: tenant.key,
    body: { url: 'https://hooks.example/', types: ['balance_low'] },
  });
  webhook = made.json.webhook.id;
  await db().query(`update payment_settings set payment_method_id = 'pm_1' where tenant_id = $1`, [
    idOf(tenant),
  ]);
});

/** Another session of the member, who has just logged in. */
async function logIn(member: string, proof: Proof = 'mail', at = idOf(tenant)): Promise<string> {
  const { plaintext, hash } = newSecret();
  await insertSession(db(), { hash, tenant: at, proof, member });
  return `${COOKIE}=${plaintext}`;
}

/** Send a form in a session that is not fresh. Returns the page that `next` names. */
async function sendStale(path: string, fields: Record<string, string>, cookie = owner.cookie) {
  const answer = await sendForm(app, path, fields, { cookie });
  expect(answer.status).toBe(303);
  const to = new URL(answer.headers.get('location')!, app.url);
  expect(to.pathname).toBe('/console/confirm');
  return to.searchParams.get('next')!;
}

const isShown = async (page: string, cookie: string) =>
  (await getPage(app, page, cookie)).text.includes(NOTE);
const countKept = async () => (await db().query('select count(*)::integer from kept_forms')).rows[0].count;

/** For each form in which something is typed: what, and what its page has of it afterwards. */
const TYPED: Readonly<
  Record<string, { readonly fields: Record<string, string>; readonly shown: readonly string[] }>
> = {
  '/console/keys': {
    fields: { form: randomUUID(), name: 'edge', kind: 'backend' },
    shown: ['id="name" name="name" value="edge"', 'value="backend" selected'],
  },
  '/console/members': {
    fields: { email: 'new@example.com', role: 'finance' },
    shown: ['value="new@example.com"', 'value="finance" selected'],
  },
  '/console/people/erase': {
    fields: { participant: 'Ann', confirm: 'erase' },
    shown: ['id="participant" name="participant" value="Ann"', 'id="confirm" name="confirm" value=""'],
  },
  '/console/passkeys': {
    fields: { name: 'laptop', answer: '{}' },
    shown: ['id="name" name="name" value="laptop"', 'name="answer" value=""'],
  },
  '/console/devices': {
    fields: { form: randomUUID(), name: 'door', rooms: 'door-*', publish_screen: 'on' },
    shown: ['value="door"', 'value="door-*"', 'name="publish_screen" checked'],
  },
  '/console/agents': {
    fields: { form: randomUUID(), name: 'assistant', role: 'finance', writes: '4', days: '9' },
    shown: [
      'value="assistant"',
      'value="finance" selected',
      'name="writes" value="4"',
      'name="days" value="9"',
    ],
  },
  '/console/webhooks': {
    fields: { form: randomUUID(), url: 'https://new.example/', type_balance_low: 'on' },
    shown: ['value="https://new.example/"', 'name="type_balance_low" checked'],
  },
  '/console/webhooks/:id': {
    fields: { url: 'https://other.example/', description: 'mine' },
    shown: ['value="https://other.example/"', 'value="mine"'],
  },
  '/console/webhooks/:id/headers': {
    fields: { headers: 'x-key: one', username: 'ann', password: 'secret' },
    shown: ['x-key: one</textarea>', 'value="ann"'],
  },
  '/console/mail': {
    fields: { receipts: 'on', address1: '', address2: 'b@example.com' },
    shown: [
      'name="alerts" aria',
      'name="receipts" checked',
      'id="address2" name="address2" value="b@example',
    ],
  },
  '/console/budgets': { fields: { id: 'acme', limit: '5' }, shown: ['value="acme"', 'value="5"'] },
  '/console/top-up': {
    fields: { enabled: 'on', below: '7.25', amount: '33' },
    shown: ['name="enabled" checked', 'value="7.25"', 'value="33"'],
  },
};

test('every form of a log-in of the last minutes in which something is typed is among these', () => {
  const typed = ROUTES.filter((route) => 'isTyped' in route && route.isTyped).map(({ path }) => path);
  expect(typed.toSorted()).toEqual(Object.keys(TYPED).toSorted());
});

test.each(Object.entries(TYPED))(
  'what was typed into %s is in the form again after a log-in, once, and nothing is done',
  async (route, { fields, shown }) => {
    const path = route.replace(':id', webhook);
    const next = await sendStale(path, fields);
    expect(next).toMatch(/^\/console\/[\w/-]+\?kept=[\w-]{43}$/);
    expect(
      (await getPage(app, `/console/confirm?next=${encodeURIComponent(next)}`, owner.cookie)).text,
    ).toMatch(/What you typed is kept for 15 minutes.*name="next" value="[^"]*\?kept=/s);
    // Before the log-in, the page has no form to show it in.
    expect(await isShown(next, owner.cookie)).toBe(false);
    const cookie = await logIn(owner.id);
    const { text } = await getPage(app, next, cookie);
    expect(text).toContain(`<p class="note" role="status">${NOTE}</p>`);
    for (const part of shown) expect(text).toContain(part);
    for (const once of ['form', 'confirm', 'answer'])
      if (fields[once]) expect(text).not.toContain(`value="${fields[once]}"`);
    expect(await isShown(next, cookie)).toBe(false);
    expect(await countKept()).toBe(0);
  },
);

test('a form without anything to keep leads to its page, and keeps nothing', async () => {
  for (const [path, fields, page] of [
    [`/console/keys/${tenant.keyId}/revoke`, { confirm: 'revoke' }, `/console/keys/${tenant.keyId}/revoke`],
    [`/console/members/${owner.id}/role`, { role: 'viewer' }, '/console/members'],
    ['/console/start/keys', { form: randomUUID() }, '/console/start'],
  ] as const)
    expect(await sendStale(path, fields)).toBe(page);
  expect(await countKept()).toBe(0);
});

test('the link of a mail leads back to it', async () => {
  const next = await sendStale('/console/keys', { name: 'by mail', kind: 'relay' });
  await sendForm(app, '/console/confirm', { next }, owner);
  const opened = await sendForm(app, await mails.linkTo(owner.email), {});
  expect(opened.headers.get('location')).toBe(next);
  expect((await getPage(app, next, cookieOf(opened))).text).toContain('value="by mail"');
});

test('a session by key finds it after the next link of the key', async () => {
  const cookie = await logInByKey(app, tenant.key);
  await db().query(
    `update console_sessions set created_at = created_at - interval '11 minutes' where key_id = $1`,
    [tenant.keyId],
  );
  const next = await sendStale('/console/keys', { name: 'by key', kind: 'relay' }, cookie);
  const confirm = `/console/confirm?next=${encodeURIComponent(next)}`;
  expect((await getPage(app, confirm, cookie)).text).toContain(`<a href="${confirm}">go on here</a>`);
  expect(await isShown(next, await logIn(owner.id))).toBe(false);
  const fresh = await logInByKey(app, tenant.key);
  expect((await getPage(app, confirm, fresh)).headers.get('location')).toBe(next);
  expect((await getPage(app, next, fresh)).text).toContain('value="by key"');
});

test('nobody else sees it: another member, tenant, key or signup; nor is it at another page', async () => {
  const next = await sendStale('/console/keys', { name: 'mine', kind: 'relay' });
  const other = await app.paidTenant();
  const strangers = [
    (await makeMember(db(), idOf(tenant))).cookie,
    (await makeMember(db(), idOf(other))).cookie,
    (await makeMember(db(), idOf(other), { email: owner.email })).cookie,
    await logInByKey(app, tenant.key),
    await logIn(owner.id, 'signup'),
    '',
  ];
  for (const cookie of strangers) {
    const { text } = await getPage(app, next, cookie);
    expect([text.includes(NOTE), text.includes('"mine"')]).toEqual([false, false]);
  }
  const cookie = await logIn(owner.id);
  expect(await isShown(next.replace('/keys', '/devices'), cookie)).toBe(false);
  expect(await isShown(next, cookie)).toBe(true);
});

test('of a signup whose address is not proved, nothing is kept: the next log-in may be of another person', async () => {
  const { cookie } = await makeMember(db(), idOf(tenant), { proof: 'signup', minutesAgo: 11 });
  expect(await sendStale('/console/keys', { name: 'mine', kind: 'relay' }, cookie)).toBe('/console/keys');
});

test('it is sealed, a few are kept at a time, and none that is large', async () => {
  const nexts: string[] = [];
  for (let at = 0; at <= KEPT_FORMS_MAX; at += 1)
    nexts.push(await sendStale('/console/keys', { name: `number ${at}`, kind: 'relay' }));
  expect(await countKept()).toBe(KEPT_FORMS_MAX);
  const { rows } = await db().query('select sealed from kept_forms');
  for (const { sealed } of rows) expect(sealed.includes('number')).toBe(false);
  const large = { name: 'n'.repeat(KEPT_BYTES_MAX), kind: 'relay' };
  expect(await sendStale('/console/keys', large)).toBe('/console/keys');
  const fits = { name: 'n'.repeat(KEPT_BYTES_MAX - 60), kind: 'relay' };
  expect(await sendStale('/console/keys', fits)).toContain('?kept=');
  const cookie = await logIn(owner.id);
  const shown: boolean[] = [];
  for (const next of nexts) shown.push(await isShown(next, cookie));
  expect(shown).toEqual([false, false, true, true]);
});

test('after 15 minutes it is gone, also from the database', async () => {
  const next = await sendStale('/console/keys', { name: 'late', kind: 'relay' });
  await db().query(`update kept_forms set expires_at = expires_at - interval '15 minutes'`);
  expect(await isShown(next, await logIn(owner.id))).toBe(false);
  await sweep(app.service.deps);
  expect(await countKept()).toBe(0);
});
