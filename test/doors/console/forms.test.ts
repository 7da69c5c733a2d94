/** What is sent to forms by mistake, or by an attacker. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { GuardedRoute } from '../../../src/doors/console/route.ts';
import { ROUTES } from '../../../src/doors/console/routes.ts';
import { mint, newStage } from '../../control/moderation/support.ts';
import { getPage, logInByKey, makeMember, sendForm, type TestMember } from '../../support/console.ts';
import { createCredential } from '../../support/devices.ts';
import { useControl } from '../../support/grpc.ts';
import { ask, type TestTenant, useService } from '../../support/service.ts';
import { idOf, makeKey } from '../../support/tenants.ts';

const app = useService({ isRestricted: true });
const controlOf = useControl(app);
const db = () => app.service.deps.db;
let tenant: TestTenant;
let owner: TestMember;
let webhook: string;

beforeAll(async () => {
  tenant = await app.paidTenant();
  owner = await makeMember(db(), idOf(tenant));
  const made = await app.request('POST', '/v1/webhooks', {
    key: tenant.key,
    body: { url: 'https://hooks.example/', types: ['balance_low'] },
  });
  webhook = made.json.webhook.id;
});

const FORMS = ROUTES.filter(
  (route): route is GuardedRoute =>
    route.method === 'POST' && route.needs !== 'nothing' && !route.path.startsWith('/console/tenants'),
);

const pathOf = ({ path }: GuardedRoute) =>
  path
    .replace('webhooks/:id', `webhooks/${webhook}`)
    .replace(':id', '0123456789abcdef')
    .replace(':room', 'lobby');

function sendRaw(path: string, raw: string) {
  return ask(`${app.url}${path}`, 'POST', {
    raw,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      origin: new URL(app.config.publicUrl).origin,
      'sec-fetch-site': 'same-origin',
      cookie: owner.cookie,
    },
  });
}

/** Everything of the tenant that the forms here could change. */
async function state(): Promise<unknown> {
  const { rows } = await db().query(
    `select (select count(*) from audit_entries) as audit, (select count(*) from api_keys) as keys, (select count(*) from agent_keys) as agents,
            (select count(*) from members) as members, (select count(*) from webhook_deliveries) as deliveries,
            (select count(*) from checkouts) as checkouts`,
  );
  return rows[0];
}

describe.each(FORMS.map((route) => [route.path, route] as const))('the form %s', (_path, route) => {
  test('refuses an unknown field, a doubled one and 1 MB, and changes nothing', async () => {
    const before = await state();
    const [field = 'reason'] = route.fields ?? [];
    const doubled = await sendRaw(pathOf(route), `${field}=a&${field}=b`);
    expect([doubled.status, doubled.text.includes('must be sent once')]).toEqual([400, true]);
    const unknown = await sendRaw(pathOf(route), 'is_admin=on');
    expect([unknown.status, unknown.text.includes('Is_admin is not a known field')]).toEqual([400, true]);
    const large = await sendRaw(pathOf(route), `${field}=${'a'.repeat(1_000_000)}`);
    expect([large.status, large.text.includes('64 KiB')]).toEqual([400, true]);
    expect(await state()).toEqual(before);
  });
});

test('a form of one person shows nothing to another one, who sends it again', async () => {
  const fields = { form: randomUUID(), name: 'mine', kind: 'backend' };
  const send = (cookie: string) => sendForm(app, '/console/keys', fields, { cookie });
  const mine = await send(owner.cookie);
  expect(mine.text).toMatch(/svc_[0-9a-f]{16}_/);
  const { cookie } = await makeMember(db(), idOf(tenant));
  for (const other of [cookie, await logInByKey(app, tenant.key)]) {
    const answer = await send(other);
    expect([answer.status, /svc_[0-9a-f]{16}_/.test(answer.text)]).toEqual([422, false]);
  }
  expect((await send(owner.cookie)).text).toBe(mine.text);
});

/** Names of another direction, that look like others, and that would break a page which does not escape them. */
const ODD_NAMES = ['a\u200Bb', 'שלום', '"><img src=x>'];

describe('an odd name', () => {
  test.each(ODD_NAMES)(
    '%j is a name of a key like any other, set apart from the text around it',
    async (name) => {
      const form = { form: randomUUID(), kind: 'relay', name };
      const answer = await sendForm(app, '/console/keys', form, owner);
      expect(answer.status).toBe(200);
      const listed = (await getPage(app, '/console/keys', owner.cookie)).text;
      const escaped = name.replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
      expect(listed).toContain(`<bdi>${escaped}</bdi>`);
      expect(listed).not.toContain('<img');
    },
  );

  test.each(['\u202Etxet\u202C', '\u2066\u2067'])('%j turns writing around, and is refused', async (name) => {
    const answer = await sendForm(app, '/console/keys', { form: randomUUID(), kind: 'relay', name }, owner);
    expect([answer.status, answer.text.includes('id="name-fault"')]).toEqual([400, true]);
  });

  test.each(['\u202Ea', 'zero\u200Bwidth'])('%j is no address of a member', async (name) => {
    const fields = { email: `${name}@example.com`, role: 'viewer' };
    const answer = await sendForm(app, '/console/members', fields, owner);
    expect([answer.status, answer.text.includes('id="email-fault"')]).toEqual([400, true]);
  });
});

/** One mistake for each form with a field to type in; the fields are those of the page. */
const MISTAKES: readonly {
  readonly path: () => string;
  readonly fields: Readonly<Record<string, string>>;
  readonly wrong: string;
}[] = [
  { path: () => '/console/checkout', fields: { dollars: '9,99' }, wrong: 'dollars' },
  { path: () => '/console/keys', fields: { name: ' ', kind: 'backend' }, wrong: 'name' },
  { path: () => '/console/members', fields: { email: 'nobody', role: 'finance' }, wrong: 'email' },
  { path: () => '/console/alerts', fields: { kind: 'runway', below: 'soon' }, wrong: 'below' },
  { path: () => '/console/mail', fields: { address1: 'not-an-address' }, wrong: 'address1' },
  {
    path: () => '/console/devices',
    fields: { name: 'door', rooms: 'a b!', default_room: 'lobby' },
    wrong: 'rooms',
  },
  {
    path: () => '/console/agents',
    fields: { name: 'assistant', role: 'finance', writes: '3', days: 'all' },
    wrong: 'days',
  },
  { path: () => '/console/webhooks', fields: { url: 'nowhere', description: 'mine' }, wrong: 'url' },
  {
    path: () => `/console/webhooks/${webhook}`,
    fields: { url: 'nowhere', description: 'mine' },
    wrong: 'url',
  },
  { path: () => `/console/webhooks/${webhook}/resend-since`, fields: { since: 'monday' }, wrong: 'since' },
  {
    path: () => '/console/rooms/bans',
    fields: { kind: 'cidr', subject: '1.2.3.4/33', reason: 'spam', time: 'day' },
    wrong: 'subject',
  },
  {
    path: () => '/console/rooms/watchdogs',
    fields: { room: 'lobby', condition: 'empty_for', minutes: 'ten', action: 'end_room', warning: '1' },
    wrong: 'minutes',
  },
  { path: () => '/console/people/erase', fields: { participant: 'Ann', confirm: 'yes' }, wrong: 'confirm' },
  { path: () => `/console/keys/${tenant.keyId}/revoke`, fields: { confirm: 'yes' }, wrong: 'confirm' },
];

/** Mistakes in all fields that can have one, before the operation begins; in the order of the page. */
const MISTAKES_AT_ONCE: readonly {
  readonly path: () => string;
  readonly fields: Readonly<Record<string, string>>;
  readonly wrong: readonly string[];
}[] = [
  { path: () => '/console/signup', fields: { name: ' ', email: 'me' }, wrong: ['name', 'email'] },
  { path: () => '/console/keys', fields: { name: ' ', kind: 'all' }, wrong: ['name', 'kind'] },
  { path: () => '/console/members', fields: { email: 'nobody', role: 'boss' }, wrong: ['email', 'role'] },
  { path: () => '/console/alerts', fields: { kind: 'days', below: 'soon' }, wrong: ['kind', 'below'] },
  {
    path: () => '/console/mail',
    fields: { address1: 'a@example.com', address2: 'one', address3: 'A@example.com', address5: 'two' },
    wrong: ['address2', 'address3', 'address5'],
  },
  {
    path: () => '/console/devices',
    fields: { name: ' ', rooms: 'a b!', default_room: '?', expires_at: 'never' },
    wrong: ['name', 'rooms', 'default_room', 'expires_at'],
  },
  {
    path: () => '/console/devices',
    fields: { name: ' ', rooms: 'door-*', default_room: 'lobby' },
    wrong: ['name', 'default_room'],
  },
  {
    path: () => '/console/agents',
    fields: { name: ' ', role: 'owner', writes: 'all', days: '91' },
    wrong: ['name', 'role', 'writes', 'days'],
  },
  ...['', `/:webhook`].map((at) => ({
    path: () => `/console/webhooks${at.replace(':webhook', webhook)}`,
    fields: { url: 'nowhere', description: 'd'.repeat(201) },
    wrong: ['url', 'description'],
  })),
  {
    path: () => '/console/budgets',
    fields: {
      ...{ id: 'A B', customer: 'c'.repeat(129), room: 'a b', key: 'me', period: 'hour', limit: '-1' },
      ...{ kind: 'firm', alerts: '200' },
    },
    wrong: ['id', 'customer', 'room', 'key', 'period', 'limit', 'kind', 'alerts'],
  },
  {
    path: () => '/console/billing-details',
    fields: { name: 'n'.repeat(201), line2: 'a\u0001b', line4: 'l'.repeat(101), tax_id: 't'.repeat(51) },
    wrong: ['name', 'line2', 'line4', 'tax_id'],
  },
  {
    path: () => '/console/rooms/bans',
    fields: { kind: 'cidr', subject: 'all', room: 'a b', time: 'long', reason: 'r'.repeat(501) },
    wrong: ['subject', 'room', 'time', 'reason'],
  },
  {
    path: () => '/console/rooms/watchdogs',
    fields: { room: '?', condition: 'empty_for', minutes: '5', action: 'kick', warning: '9' },
    wrong: ['room', 'action', 'warning'],
  },
  {
    path: () => '/console/rooms/watchdogs',
    fields: { room: '?', condition: 'bored_for', minutes: 'ten', action: 'sing', warning: '-1' },
    wrong: ['room', 'condition', 'minutes', 'action', 'warning'],
  },
  {
    path: () => '/console/people/erase',
    fields: { participant: '', confirm: 'yes' },
    wrong: ['participant', 'confirm'],
  },
];

const faultsIn = (text: string) => [...text.matchAll(/id="([\w-]+)-fault"/g)].map(([, name]) => name);
const focusedIn = (text: string) => text.match(/<\w+ id="([\w-]+)"[^>]* autofocus/)?.[1];

describe('several mistakes', () => {
  test.each(MISTAKES_AT_ONCE.map((each) => [each.fields, each] as const))(
    '%j are told at once: each beside its field and above the page, with the focus in the first',
    async (fields, { path, wrong }) => {
      const before = await state();
      const { status, text } = await sendForm(app, path(), fields, owner);
      expect([status, faultsIn(text)]).toEqual([400, wrong]);
      const [notice = ''] = /<div class="alert" role="alert".*?<\/div>/s.exec(text) ?? [];
      expect([...notice.matchAll(/href="#(\w+)"/g)].map(([, name]) => name)).toEqual(wrong);
      expect(focusedIn(text)).toBe(wrong[0]);
      expect(await state()).toEqual(before);
    },
  );

  test('in a form about a participant, or about its room, are told at once', async () => {
    const stage = await newStage(app, controlOf);
    await mint(stage, 'ann');
    const who = await makeMember(db(), idOf(stage.tenant), { role: 'moderator' });
    const reason = 'r'.repeat(501);
    const send = (action: string, fields: Record<string, string>) =>
      sendForm(app, `/console/rooms/at/lobby/${action}`, { reason, ...fields }, who);
    const muted = await send('mute', { username: 'ann' });
    expect([muted.status, faultsIn(muted.text)]).toEqual([400, ['tracks', 'mute-reason']]);
    expect(muted.text).toMatch(/name="audio"[^>]* autofocus/);
    const banned = await send('ban', { username: 'ann', scope: 'everywhere', time: 'long' });
    expect([banned.status, faultsIn(banned.text)]).toEqual([400, ['time', 'ban-reason']]);
    expect(banned.text).toContain('value="everywhere" selected');
    const ended = await send('end', { confirm: 'yes' });
    expect([ended.status, faultsIn(ended.text)]).toEqual([400, ['reason', 'confirm']]);
  });

  test('in a form of automatic top-up are told at once', async () => {
    await db().query(`update payment_settings set payment_method_id = 'pm_1' where tenant_id = $1`, [
      idOf(tenant),
    ]);
    const fields = { enabled: 'on', below: 'low', amount: '1' };
    const { status, text } = await sendForm(app, '/console/top-up', fields, owner);
    expect([status, faultsIn(text)]).toEqual([400, ['below', 'amount']]);
  });

  test.each([
    ['/console/ledger', 'kind=all&from=yesterday&to=never', ['kind', 'from', 'to']],
    ['/console/ledger', `room=${'r'.repeat(300)}&from=2026-02-02&to=2026-01-01`, ['room', 'from']],
    ['/console/audit', 'action=%3F&to=never', ['action', 'to']],
    ['/console/payments', 'from=yesterday&to=never', ['from', 'to']],
    ['/console/room-sessions', `room=${'r'.repeat(300)}&key=me&to=never`, ['room', 'key', 'to']],
    ['/console/spend', 'from=yesterday&to=never&by=mood', ['from', 'to', 'by']],
    ['/console/prices', 'people=0&minutes=x&role=host&tier=4k&gib=-1', ['people', 'minutes', 'tier', 'gib']],
  ])('in the fields of %s, %s, are told at once', async (path, query, wrong) => {
    const { status, text } = await getPage(app, `${path}?${query}`, owner.cookie);
    expect([status, faultsIn(text)]).toEqual([400, wrong]);
  });
});

describe('a mistake', () => {
  test.each(MISTAKES.map((each) => [each.fields, each] as const))(
    '%j is told beside its field, and nothing that was typed is lost',
    async (fields, { path, wrong }) => {
      const before = await state();
      const answer = await sendForm(app, path(), { form: randomUUID(), ...fields }, owner).then((sent) =>
        // Some forms have no id.
        sent.text.includes('Form is not a known field') ? sendForm(app, path(), fields, owner) : sent,
      );
      expect(answer.status).toBe(400);
      const { text } = answer;
      expect(text).toMatch(new RegExp(`id="${wrong}"[^>]* aria-describedby="[^"]*${wrong}-fault"`));
      expect(text).toContain(`id="${wrong}-fault"`);
      for (const [name, value] of Object.entries(fields)) {
        if (name === 'confirm') continue;
        const shown = value.replaceAll('"', '&quot;');
        const isShown =
          text.includes(`value="${shown}" selected`) ||
          new RegExp(
            `<(input|textarea) id="${name}"[^>]*(value="|>)${shown.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}`,
          ).test(text);
        expect([name, isShown]).toEqual([name, true]);
      }
      expect(await state()).toEqual(before);
    },
  );

  test('in a form about a participant is told there, with the reason that was typed', async () => {
    const stage = await newStage(app, controlOf);
    await mint(stage, 'ann');
    const { cookie } = await makeMember(db(), idOf(stage.tenant), { role: 'moderator' });
    const at = '/console/rooms/at/lobby';
    const muted = await sendForm(app, `${at}/mute`, { username: 'ann', reason: 'too loud' }, { cookie });
    expect(muted.status).toBe(400);
    expect(muted.text).toContain('id="tracks-fault"');
    expect(muted.text).toMatch(/id="mute-reason" name="reason" value="too loud"/);
    expect(muted.text).not.toMatch(/name="audio" value="on" checked/);
    const kicked = await sendForm(
      app,
      `${at}/kick`,
      { username: 'ann', reason: 'r'.repeat(501) },
      { cookie },
    );
    expect([kicked.status, kicked.text.includes('id="kick-reason-fault"')]).toEqual([400, true]);
  });

  test.each([
    ['/console/ledger', 'from=yesterday&room=lobby', 'from'],
    ['/console/ledger', 'from=2026-02-02&to=2026-01-01', 'from'],
    ['/console/ledger', `participant=${'p'.repeat(300)}`, 'participant'],
    ['/console/audit', 'to=never&subject=nothing', 'to'],
  ])('in the filters of %s, %s, is told beside its field', async (path, query, wrong) => {
    const { status, text } = await getPage(app, `${path}?${query}`, owner.cookie);
    expect([status, text.includes(`id="${wrong}-fault"`)]).toEqual([400, true]);
    for (const [name, value] of new URLSearchParams(query))
      expect(text).toContain(`id="${name}" name="${name}" value="${value}"`);
  });
});

test('a mistake in the filters of the audit trail keeps the action that was chosen', async () => {
  const { text } = await getPage(app, '/console/audit?to=never&action=key+created', owner.cookie);
  expect(text).toContain('<option value="key_created" selected>Key created</option>');
});

describe('two tabs', () => {
  test.each(['key', 'credential'])(
    'that rotate one %s: one takes effect, the other is told',
    async (what) => {
      const id =
        what === 'key'
          ? (await makeKey(db(), idOf(tenant), 'relay')).id
          : (await createCredential(app, tenant)).id;
      const path = `/console/${what === 'key' ? 'keys' : 'devices'}/${id}/rotate`;
      const before = (await state()) as { audit: bigint };
      const rotate = () => sendForm(app, path, { form: randomUUID(), overlap: '3600' }, owner);
      const answers = await Promise.all([rotate(), rotate()]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      const { text } = answers.find(({ status }) => status === 409)!;
      expect(text).toContain(`role="alert">This ${what} was replaced already, perhaps in another tab`);
      expect(((await state()) as { audit: bigint }).audit).toBe(before.audit + 1n);
    },
  );
});
