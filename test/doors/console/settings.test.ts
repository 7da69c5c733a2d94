import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { changeCeiling } from '../../../src/access/keys/change-ceiling.ts';
import { newId } from '../../../src/base/lib/ids.ts';
import { THRESHOLDS_MAX } from '../../../src/money/alerts/alert-threshold.ts';
import { getPage, makeMember, sendForm, type TestMember } from '../../support/console.ts';
import { changeReferenceTable } from '../../support/reference-tables.ts';
import { type Answer, type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf, setLimits } from '../../support/tenants.ts';

const app = useService({ isRestricted: true });
const db = () => app.service.deps.db;
let tenant: TestTenant;
let owner: TestMember;

beforeAll(async () => {
  tenant = await app.paidTenant();
  owner = await makeMember(db(), idOf(tenant));
});

async function entriesOf(of: TestTenant) {
  return (await app.request('GET', '/v1/audit', { key: of.key })).json.entries;
}

/** A paid tenant with an owner at the console. */
async function newTenant() {
  const of = await app.paidTenant();
  return { of, member: await makeMember(db(), idOf(of)) };
}

test('budgets are made, changed and deleted, and mistakes are shown beside their fields', async () => {
  const { of, member } = await newTenant();
  const { cookie } = member;
  const form = { id: 'acme', key: '', room: 'class-*', customer: 'acme', period: 'month', kind: 'hard' };
  const send = (fields: object) =>
    sendForm(app, '/console/budgets', { ...form, limit: '5', alerts: '', ...fields }, { cookie });
  expect((await getPage(app, '/console/budgets', cookie)).text).toContain('There is no budget.');
  expect((await send({ alerts: '100, 50 %' })).status).toBe(303);
  expect((await send({ limit: '7.50', alerts: '50' })).status).toBe(303);
  const budgets = async () => (await app.request('GET', '/v1/budgets', { key: of.key })).json.budgets;
  expect(await budgets()).toMatchObject([
    { id: 'acme', room: 'class-*', customer: 'acme', limit: { micros: 7_500_000 }, alert_percents: [50] },
  ]);
  expect((await getPage(app, '/console/budgets', cookie)).text).toContain('$7.500000 a month');
  const { text: filled } = await getPage(app, '/console/budgets?change=acme', cookie);
  expect(filled).toMatch(/name="limit" value="7.50"/);
  expect(filled).toMatch(/name="customer" value="acme"/);
  expect(filled).toMatch(/name="alerts" value="50"/);
  // REST takes micros, and a form that is sent again must not refuse or change them.
  expect((await send({ limit: '0.000001' })).status).toBe(303);
  expect((await getPage(app, '/console/budgets?change=acme', cookie)).text).toMatch(
    /name="limit" value="0.000001"/,
  );
  expect(await budgets()).toMatchObject([{ limit: { micros: 1 } }]);
  expect((await getPage(app, '/console/budgets', cookie)).text).not.toContain('reached');
  expect((await send({ limit: '0' })).status).toBe(303);
  expect((await getPage(app, '/console/budgets', cookie)).text).toContain('reached');
  const stale = await makeMember(db(), idOf(of), { minutesAgo: 11 });
  const { text: readOnly } = await getPage(app, '/console/budgets', stale.cookie);
  expect(readOnly).toContain('To change budgets, <a href="/console/confirm?next=/console/budgets">');
  // What is typed would be lost by the log-in that the door asks for.
  expect(readOnly).not.toMatch(/name="limit"|budgets\/acme\/delete/);
  const mistakes = {
    id: 'A',
    key: 'x',
    room: 'no spaces',
    customer: 'x'.repeat(129),
    limit: 'much',
    alerts: '101',
  };
  for (const [name, value] of Object.entries(mistakes)) {
    const answer = await send({ [name]: value });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(`id="${name}-fault"`);
  }
  const deletion = '/console/budgets/acme/delete';
  expect((await getPage(app, '/console/budgets', cookie)).text).toContain(`href="${deletion}"`);
  expect((await getPage(app, deletion, cookie)).text).toContain('refuses nothing more');
  expect(await budgets()).toHaveLength(1);
  expect((await sendForm(app, deletion, {}, { cookie })).status).toBe(303);
  expect(await budgets()).toEqual([]);
});

describe('alerts', () => {
  const add = (fields: Record<string, string>, { cookie } = owner) =>
    sendForm(app, '/console/alerts', { kind: 'balance', ...fields }, { cookie });
  const thresholdsOf = async (of: TestTenant) =>
    (await app.request('GET', '/v1/alerts', { key: of.key })).json.thresholds;

  test('thresholds of both kinds are added, told, and removed one by one', async () => {
    const { of, member } = await newTenant();
    const isEmpty = async () =>
      (await getPage(app, '/console/alerts', member.cookie)).text.includes('No threshold is set.');
    expect(await isEmpty()).toBe(true);
    expect((await add({ below: '5.50' }, member)).status).toBe(303);
    expect(await isEmpty()).toBe(false);
    expect((await add({ kind: 'runway', below: '24' }, member)).status).toBe(303);
    // More than the balance, so it is raised at once.
    expect((await add({ below: '$900000' }, member)).status).toBe(303);
    expect(await thresholdsOf(of)).toMatchObject([
      { below_micros: 900_000_000_000, raised_at: expect.any(String) },
      { below_micros: 5_500_000, raised_at: null },
      { below_hours: 24 },
    ]);
    const { text } = await getPage(app, '/console/alerts', member.cookie);
    for (const shown of ['$5.50 of credit', '24 hours of usage', 'below it']) expect(text).toContain(shown);
    expect((await getPage(app, '/console', member.cookie)).text).toContain(
      'Less than $900,000.00 of credit is left',
    );
    const removal = { kind: 'balance', below: '900000000000' };
    for (const _ of [1, 2]) {
      const removed = await sendForm(app, '/console/alerts/remove', removal, { cookie: member.cookie });
      expect(removed.status).toBe(303);
    }
    expect((await thresholdsOf(of)).length).toBe(2);
    const changes = (await entriesOf(of)).filter(
      ({ action }: { action: string }) => action === 'alerts_changed',
    );
    expect(changes.length).toBe(4);
    expect(changes[0].actor).toMatchObject({ kind: 'member', id: member.id });
  });

  test('thresholds that are added at the same time are all kept, up to the limit', async () => {
    const { of, member } = await newTenant();
    const amounts = Array.from({ length: THRESHOLDS_MAX + 2 }, (_, at) => String(at + 1));
    const answers = await Promise.all(amounts.map((below) => add({ below }, member)));
    expect(answers.filter(({ status }) => status === 303).length).toBe(THRESHOLDS_MAX);
    expect(answers.filter(({ status }) => status === 409).length).toBe(2);
    expect((await thresholdsOf(of)).length).toBe(THRESHOLDS_MAX);
  });

  test.each([
    [{ below: '' }, 'amount in dollars'],
    [{ below: '-1' }, 'amount in dollars'],
    [{ below: '1e3' }, 'amount in dollars'],
    [{ kind: 'runway', below: '0' }, 'whole number of hours'],
    [{ kind: 'runway', below: '8761' }, 'whole number of hours'],
    [{ kind: 'runway', below: '1.5' }, 'whole number of hours'],
    [{ kind: 'runway', below: '<script>' }, '&lt;script&gt;'],
    [{ kind: 'days', below: '1' }, 'Must be one of balance, runway'],
  ])('%j is refused', async (fields, message) => {
    const answer = await add(fields);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(message);
    expect(await thresholdsOf(tenant)).toEqual([]);
  });

  test('one that is set already is told beside the field', async () => {
    const { member } = await newTenant();
    await add({ below: '7' }, member);
    const again = await add({ below: '7.00' }, member);
    expect([again.status, again.text.includes('Must be set once.')]).toEqual([400, true]);
  });

  test('the runway is that of the REST interface', async () => {
    const { of, member } = await newTenant();
    await app.request('POST', '/v1/usage', {
      key: of.relayKey,
      body: { records: [usageRecord({ room: 'stage', egress_bytes: 500_000_000_000, seconds: 80_000 })] },
    });
    const { json } = await app.request('GET', '/v1/billing/runway', { key: of.key });
    const { text } = await getPage(app, '/console/alerts', member.cookie);
    for (const { spent } of json.burn) expect(text).toContain(spent.display);
    expect(text).toContain('<bdi>stage</bdi>');
    expect((await getPage(app, '/console', member.cookie)).text).toContain('The credit lasts');
  });
});

describe('automatic top-up', () => {
  const on = { enabled: 'on', below: '5', amount: '25' };
  const set = (fields: Record<string, string>, { cookie } = owner) =>
    sendForm(app, '/console/top-up', fields, { cookie });
  const settingsOf = async (of: TestTenant) =>
    (await app.request('GET', '/v1/billing', { key: of.key })).json.tenant.auto_top_up;

  test('is turned on and off, and keeps its amounts', async () => {
    const { of, member } = await newTenant();
    expect((await set(on, member)).status).toBe(303);
    const settings = await settingsOf(of);
    expect(JSON.stringify(settings)).toMatch(/true/);
    expect((await getPage(app, '/console/top-up', member.cookie)).text).toContain('$25.00');
    expect((await set({ below: '', amount: '' }, member)).status).toBe(303);
    expect(await settingsOf(of)).toEqual({ ...settings, enabled: false });
    expect((await entriesOf(of))[0]).toMatchObject({
      action: 'auto_top_up_changed',
      actor: { kind: 'member', id: member.id },
    });
  });

  test.each([
    [{ ...on, amount: '9.99' }, 'amount'],
    [{ ...on, amount: '10000.01' }, 'amount'],
    [{ ...on, amount: '' }, 'amount'],
    [{ ...on, below: '' }, 'below'],
    [{ ...on, below: '"><script>' }, 'below'],
    [{ below: 'x', amount: '' }, 'below'],
  ])('%j is told beside the field, and changes nothing', async (fields, wrong) => {
    const before = await settingsOf(tenant);
    const answer = await set(fields);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(`id="${wrong}-fault"`);
    expect(answer.text).not.toContain('"><script>');
    expect(await settingsOf(tenant)).toEqual(before);
  });

  test('has a form for those who may change it, after a log-in of the last minutes, if a card is saved', async () => {
    const { of, member } = await newTenant();
    const cardless = await makeMember(db(), idOf(await app.signUp()));
    const stale = await makeMember(db(), idOf(of), { minutesAgo: 11 });
    const viewer = await makeMember(db(), idOf(of), { role: 'viewer' });
    const members = [member, stale, viewer, cardless];
    const pages = members.map(({ cookie }) => getPage(app, '/console/top-up', cookie));
    const forms = (await Promise.all(pages)).map(({ text }) => text.includes('name="below"'));
    expect(forms).toEqual([true, false, false, false]);
  });

  test('charges the card at once, where the balance is below the threshold already', async () => {
    const { of, member } = await newTenant();
    const see = async () => (await getPage(app, '/console/top-up', member.cookie)).text;
    await set({ enabled: 'on', below: '5', amount: '25' }, member);
    expect(await see()).not.toContain('/console/top-up/now');
    const chargeNow = async () =>
      decodeURIComponent(
        (await sendForm(app, '/console/top-up/now', {}, member)).headers.get('set-cookie') ?? '',
      );
    expect(await chargeNow()).toContain('No top-up is requested');
    await set({ enabled: 'on', below: '500', amount: '25' }, member);
    const before = (await app.request('GET', '/v1/billing', { key: of.key })).json.balance.micros;
    expect(await see()).toContain('Charge $25.00 now');
    expect(await chargeNow()).toContain('A top-up is requested.');
    expect((await entriesOf(of))[0]).toMatchObject({
      action: 'auto_top_up_requested',
      actor: { kind: 'member', id: member.id },
    });
    await expect
      .poll(async () => (await app.request('GET', '/v1/billing', { key: of.key })).json.balance.micros)
      .toBe(before + 25_000_000);
  });

  test('charges nothing more while one is under way, and says which', async () => {
    const { of, member } = await newTenant();
    await set({ enabled: 'on', below: '500', amount: '25' }, member);
    await db().query(
      `insert into top_up_attempts (id, tenant_id, amount, next_at) values ($1, $2, 30000000, now() + interval '1 hour')`,
      [newId('tu'), idOf(of)],
    );
    const { text } = await getPage(app, '/console/top-up', member.cookie);
    expect(text).toMatch(/A top-up of \$30\.00 is under way<\/strong> since <time/);
    expect(text).not.toContain('/console/top-up/now');
    const answer = await sendForm(app, '/console/top-up/now', {}, member);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console/top-up']);
    expect(decodeURIComponent(answer.headers.get('set-cookie')!)).toContain(
      'A top-up of $30.00 is under way already, so the card is not charged once more.',
    );
    const { rows } = await db().query('select amount from top_up_attempts where tenant_id = $1', [idOf(of)]);
    expect(rows).toEqual([{ amount: 30_000_000n }]);
    expect((await entriesOf(of)).map(({ action }: { action: string }) => action)).not.toContain(
      'auto_top_up_requested',
    );
  });

  test('needs a saved card', async () => {
    const of = await app.signUp();
    const member = await makeMember(db(), idOf(of));
    expect((await getPage(app, '/console/top-up', member.cookie)).text).toContain('There is no saved card.');
    const answer = await set(on, member);
    expect([answer.status, answer.text.includes('No saved card')]).toEqual([400, true]);
  });
});

describe('mail', () => {
  const NONE = { address1: '', address2: '', address3: '', address4: '', address5: '' };
  const set = (fields: Record<string, string>, { cookie } = owner) =>
    sendForm(app, '/console/mail', { ...NONE, ...fields }, { cookie });
  const settingsOf = async (of: TestTenant) => (await app.request('GET', '/v1/mail', { key: of.key })).json;

  test('settings are replaced, and shown', async () => {
    const { of, member } = await newTenant();
    const answer = await set(
      { alerts: 'on', address2: 'ops@example.com', address4: 'b@example.com' },
      member,
    );
    expect(answer.status).toBe(303);
    expect(await settingsOf(of)).toMatchObject({
      alerts: true,
      receipts: false,
      signup_address: false,
      addresses: ['ops@example.com', 'b@example.com'],
    });
    const viewer = await makeMember(db(), idOf(of), { role: 'viewer' });
    const receivers = async () => {
      const { text } = await getPage(app, '/console/mail', viewer.cookie);
      expect(text).not.toContain('<form method="post" action="/console/mail"');
      return [...text.matchAll(/<li><bdi>(.*?@.*?)<\/bdi><\/li>/g)].map(([, address]) => address);
    };
    expect(await receivers()).toEqual(['ops@example.com', 'b@example.com']);
    await set({ signup: 'on' }, member);
    expect(await receivers()).toEqual(['ada@example.com']);
    expect((await entriesOf(of))[0]).toMatchObject({
      action: 'mail_settings_changed',
      actor: { kind: 'member', id: member.id },
    });
  });

  test.each([
    [{ address3: 'nobody' }, 'address3'],
    [{ address1: 'a@example.com', address5: 'A@example.com' }, 'address5'],
    [{ address2: 'a@example.com\r\nBcc: b@example.com' }, 'address2'],
    [{ address2: '"><script>@example.com' }, 'address2'],
  ])('%j is told beside its field, and changes nothing', async (fields: Record<string, string>, wrong) => {
    const before = await settingsOf(tenant);
    const answer = await set(fields);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(`id="${wrong}-fault"`);
    expect(answer.text).not.toContain('"><script>');
    expect(await settingsOf(tenant)).toEqual(before);
  });
});

describe('billing details', () => {
  const EMPTY = { name: '', line1: '', line2: '', line3: '', line4: '', line5: '', line6: '', tax_id: '' };
  const set = (fields: Record<string, string>, { cookie }: { cookie: string }) =>
    sendForm(app, '/console/billing-details', { ...EMPTY, ...fields }, { cookie });
  const detailsOf = async (of: TestTenant) =>
    (await app.request('GET', '/v1/billing/details', { key: of.key })).json;

  test('are replaced, and shown to those who may not change them', async () => {
    const { of, member } = await newTenant();
    expect((await set({ name: 'Ada GmbH', line2: 'Am Kai 1', tax_id: 'DE1' }, member)).status).toBe(303);
    expect(await detailsOf(of)).toEqual({ name: 'Ada GmbH', address: ['Am Kai 1'], tax_id: 'DE1' });
    const viewer = await makeMember(db(), idOf(of), { role: 'viewer' });
    const { text } = await getPage(app, '/console/billing-details', viewer.cookie);
    expect([text.includes('value="Am Kai 1"'), text.includes('Save')]).toEqual([true, false]);
    expect((await set({}, viewer)).status).toBe(403);
    expect((await set({}, member)).status).toBe(303);
    expect(await detailsOf(of)).toEqual({});
  });

  test('what is wrong is told beside its field, and changes nothing', async () => {
    const { of, member } = await newTenant();
    const answer = await set({ line1: 'ok', line4: 'a\nb' }, member);
    expect([answer.status, answer.text.includes('id="line4-fault"')]).toEqual([400, true]);
    expect(await detailsOf(of)).toEqual({});
  });
});

describe('the time zone', () => {
  const set = (name: string, { cookie }: { cookie: string }) =>
    sendForm(app, '/console/time-zone', { time_zone: name }, { cookie });
  const zoneOf = async (of: TestTenant) =>
    (await app.request('GET', '/v1/billing/time-zone', { key: of.key })).json;

  test('is set from the next month on, and shown to those who may not change it', async () => {
    const { of, member } = await newTenant();
    await app.request('POST', '/v1/usage', { key: of.relayKey, body: { records: [usageRecord()] } });
    expect((await set(' Asia/Kathmandu ', member)).status).toBe(303);
    expect(await zoneOf(of)).toMatchObject({ time_zone: 'UTC', next_time_zone: 'Asia/Kathmandu' });
    const viewer = await makeMember(db(), idOf(of), { role: 'viewer' });
    const { text } = await getPage(app, '/console/billing-details', viewer.cookie);
    expect([text.includes('and in <bdi>Asia/Kathmandu</bdi> from'), text.includes('Save')]).toEqual([
      true,
      false,
    ]);
    expect((await set('UTC', viewer)).status).toBe(403);
  });

  test('a wrong name is told beside its field, and the details stay', async () => {
    const { of, member } = await newTenant();
    await app.request('PUT', '/v1/billing/details', { key: of.key, body: { name: 'Ada GmbH' } });
    const answer = await set('Berlin', member);
    expect([answer.status, answer.text.includes('id="time_zone-fault"')]).toEqual([400, true]);
    expect(answer.text).toMatch(/value="Berlin"/);
    expect(answer.text).toContain('value="Ada GmbH"');
    expect(await zoneOf(of)).toEqual({ time_zone: 'UTC' });
  });
});

describe('device credentials', () => {
  const create = (fields: Record<string, string>, { cookie } = owner) =>
    sendForm(app, '/console/devices', { form: randomUUID(), name: 'camera', ...fields }, { cookie });
  const listOf = async (of: TestTenant) =>
    (await app.request('GET', '/v1/device-credentials', { key: of.key })).json.device_credentials;
  const shown = (text: string) => /dev_[0-9a-f]{16}_[\w-]{43}/.exec(text)?.[0];

  test('one is created, shown once, rotated and revoked', async () => {
    const { of, member } = await newTenant();
    const { cookie } = member;
    const fields = {
      publish_audio: 'on',
      rooms: 'door-*, lobby',
      default_room: 'lobby',
      expires_at: '2999-01-01',
    };
    const created = await create(fields, member);
    expect(created.status).toBe(200);
    const plaintext = shown(created.text)!;
    const id = plaintext.split('_')[1]!;
    expect(await listOf(of)).toMatchObject([
      { id, name: 'camera', publish: ['audio'], rooms: ['door-*', 'lobby'], default_room: 'lobby' },
    ]);
    expect((await getPage(app, '/console/devices', cookie)).text).not.toContain(plaintext);

    const rotate = { form: randomUUID(), overlap: '3600' };
    const rotated = await sendForm(app, `/console/devices/${id}/rotate`, rotate, { cookie });
    expect(shown(rotated.text)).not.toBe(plaintext);
    const again = await sendForm(app, `/console/devices/${id}/rotate`, rotate, { cookie });
    expect(shown(again.text)).toBe(shown(rotated.text));

    const path = `/console/devices/${id}/revoke`;
    expect((await getPage(app, path, cookie)).text).toContain('Revoke the credential');
    expect((await sendForm(app, path, {}, { cookie })).status).toBe(303);
    expect((await getPage(app, path, cookie)).status).toBe(404);
    expect(
      (await listOf(of)).map((each: { revoked_at?: string }) => each.revoked_at !== undefined).sort(),
    ).toEqual([false, true]);
    expect((await entriesOf(of))[0]).toMatchObject({
      action: 'device_credential_revoked',
      actor: { kind: 'member', id: member.id },
    });
  });

  test('a form that is sent ten times at once creates one', async () => {
    const { of, member } = await newTenant();
    const form = randomUUID();
    const answers = await Promise.all(Array.from({ length: 10 }, () => create({ form }, member)));
    expect(new Set(answers.map(({ text }) => shown(text))).size).toBe(1);
    expect((await listOf(of)).length).toBe(1);
  });

  test.each([
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ rooms: 'a b/c' }, 'rooms'],
    [{ rooms: Array(21).fill('a').join(' ') }, 'rooms'],
    [{ default_room: '<b>' }, 'default_room'],
    [{ rooms: 'door-*', default_room: 'lobby' }, 'default_room'],
    [{ expires_at: '2020-01-01' }, 'expires_at'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
  ])('%j is told beside its field', async (fields: Record<string, string>, wrong) => {
    const before = await listOf(tenant);
    const answer = await create(fields);
    expect([answer.status, answer.text.includes(`id="${wrong}-fault"`)]).toEqual([400, true]);
    expect(await listOf(tenant)).toEqual(before);
  });

  test('neither the limit nor the ceiling of the newest key is exceeded', async () => {
    const { of, member } = await newTenant();
    expect((await create({}, member)).status).toBe(200);
    await setLimits(db(), of, { device_credentials: 1 });
    expect((await create({}, member)).status).toBe(409);
    await changeCeiling(db(), { kind: 'operator', id: 'test' }, of.keyId, { rooms: ['door-*'] });
    const wider = await create({}, member);
    expect([wider.status, wider.text.includes('beyond the ceiling of this key')]).toEqual([403, true]);
    expect((await listOf(of)).length).toBe(1);
  });

  test('those of another tenant are not found', async () => {
    const { of: other } = await newTenant();
    const made = await app.request('POST', '/v1/device-credentials', {
      key: other.key,
      body: { name: 'theirs', publish: ['audio'] },
    });
    const { id } = made.json.device_credential;
    const { cookie } = owner;
    expect((await getPage(app, `/console/devices/${id}/revoke`, cookie)).status).toBe(404);
    expect((await sendForm(app, `/console/devices/${id}/revoke`, {}, { cookie })).status).toBe(404);
    const rotate = { form: randomUUID(), overlap: '0' };
    expect((await sendForm(app, `/console/devices/${id}/rotate`, rotate, { cookie })).status).toBe(404);
  });

  test('the list has pages', async () => {
    const { of, member } = await newTenant();
    await changeReferenceTable(
      db(),
      `insert into device_credentials (tenant_id, id, name, hash, publish)
       select $1, lpad(to_hex(n), 16, '0'), 'device ' || n, decode(lpad(to_hex(n), 64, '0'), 'hex'), '{audio}'
         from generate_series(1, 51) n`,
      [idOf(of)],
    );
    const first = await getPage(app, '/console/devices', member.cookie);
    const next = /href="([^"]+)" rel="next"/.exec(first.text)![1]!;
    const second = await getPage(app, next, member.cookie);
    expect([first.text, second.text].map((text) => text.match(/data-label="Last used"/g)!.length)).toEqual([
      50, 1,
    ]);
    const links = ['First page', 'Newer ones'];
    const linksOf = ({ text }: Answer) => links.filter((link) => text.includes(`>${link}</a>`));
    expect([linksOf(first), linksOf(second)]).toEqual([['Newer ones'], ['First page']]);
    expect((await getPage(app, '/console/devices?after=forged', member.cookie)).status).toBe(400);
  });
});

describe('the audit trail', () => {
  test('names members by their address, has filters and pages, and no operator', async () => {
    const { of, member } = await newTenant();
    for (let below = 1; below <= 27; below += 1) {
      const fields = { kind: 'balance', below: String(below) };
      await sendForm(app, '/console/alerts', fields, { cookie: member.cookie });
      await sendForm(
        app,
        '/console/alerts/remove',
        { kind: 'balance', below: String(below * 1_000_000) },
        { cookie: member.cookie },
      );
    }
    await changeCeiling(db(), { kind: 'operator', id: 'secret-login' }, of.keyId, { rank: 5 });
    const first = await getPage(app, '/console/audit', member.cookie);
    expect(first.text).toContain(`<bdi>${member.email}</bdi>`);
    expect(first.text).not.toContain('secret-login');
    expect(first.text.match(/data-label="Action"/g)).toHaveLength(50);
    const next = /href="([^"]+)" rel="next"/.exec(first.text)![1]!.replaceAll('&amp;', '&');
    expect((await getPage(app, next, member.cookie)).text).toContain('tenant created');
    const filtered = await getPage(app, '/console/audit?action=key+ceiling+changed', member.cookie);
    expect(filtered.text.match(/data-label="Action"/g)).toHaveLength(1);
    expect(filtered.text).toContain(of.keyId);
    expect(filtered.text).toContain(
      '<option value="key_ceiling_changed" selected>Key ceiling changed</option>',
    );
    expect(filtered.text).not.toContain('value="rates_loaded"');
    const empty = await getPage(app, '/console/audit?subject=nothing&from=&to=', member.cookie);
    expect(empty.text).toContain('No entry fits.');
    for (const wrong of ['action=<b>', 'from=yesterday', 'after=forged', `subject=${'x'.repeat(201)}`]) {
      expect([wrong, (await getPage(app, `/console/audit?${wrong}`, member.cookie)).status]).toEqual([
        wrong,
        400,
      ]);
    }
    expect((await getPage(app, `/console/audit?after=${'au_'}${'0'.repeat(32)}`, member.cookie)).status).toBe(
      400,
    );
  });
});
