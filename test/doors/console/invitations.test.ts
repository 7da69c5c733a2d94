/** No stranger captures the log-in or the card of another person: signups and invitations are no membership before a yes. */

import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { listAgentKeys } from '../../../src/access/agents/list-agent-keys.ts';
import { INVITATIONS_LIMIT } from '../../../src/access/members/invitation-limit.ts';
import { insertMember } from '../../../src/access/members/members.sql.ts';
import type { MemberRole } from '../../../src/access/rights/abilities.ts';
import { changeStatus } from '../../../src/money/tenant-status/change-status.ts';
import { GOOD_CARD, OTHER_CARD, usePayments } from '../../money/payments/support.ts';
import { Authenticator } from '../../support/authenticator.ts';
import { LOCAL_URL } from '../../support/browser.ts';
import {
  COOKIE,
  cookieOf,
  getPage,
  joinByLink,
  makeMailLog,
  makeMember,
  sendForm,
} from '../../support/console.ts';
import { startIssuer, verified } from '../../support/issuer.ts';
import { begin, comeBack, cookiesOf } from '../../support/issuer-login.ts';
import type { Answer, TestTenant } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const issuer = await startIssuer();
const mails = makeMailLog();
const kit = usePayments({ log: mails.log, publicUrl: LOCAL_URL, oidc: issuer.config, isRestricted: true });
const { app } = kit;
const db = () => app.service.deps.db;
afterAll(() => issuer.close());

let people = 0;
/** An address without a member so far. */
function newAddress(): string {
  people += 1;
  return `person-${people}@example.com`;
}

let clients = 0;
function client(): Record<string, string> {
  clients += 1;
  return { 'x-forwarded-for': `203.0.${113 + Math.floor(clients / 250)}.${clients % 250}` };
}

async function linkFor(email: string, next = '/console'): Promise<string> {
  await sendForm(app, '/console/login', { email, next }, { headers: client() });
  return mails.linkTo(email);
}

/** A stranger signs up in a browser, with an address that is not theirs. Returns the session and the tenant. */
async function strangerSignsUp(
  email: string,
  name = 'Theatre X',
): Promise<{ cookie: string; tenant: string }> {
  const answer = await sendForm(app, '/console/signup', { name, email }, { headers: client() });
  const cookie = cookieOf(answer);
  const { rows } = await db().query(
    `select 't_' || lpad(to_hex(tenant_id), 16, '0') as tenant from members where email = $1 order by created_at desc limit 1`,
    [email],
  );
  return { cookie, tenant: rows[0].tenant };
}

async function invite(of: TestTenant, email: string, role: MemberRole = 'finance'): Promise<string> {
  return (await insertMember(db(), idOf(of), { email, role }))!.id;
}

const statusOf = async (cookie: string, path = '/console') => (await getPage(app, path, cookie)).status;
const nameIn = ({ text }: Answer) => /<a href="\/console\/tenants"><bdi>(.*?)<\/bdi>/.exec(text)?.[1];
const tenantOpenIn = async (cookie: string) => nameIn(await getPage(app, '/console/tenants', cookie));

async function auditOf(of: TestTenant, action: string): Promise<number> {
  const { rows } = await db().query(
    'select count(*)::int as n from audit_entries where tenant_id = $1 and action = $2',
    [idOf(of), action],
  );
  return rows[0].n;
}

/** Pay at the console, by the page of the provider. */
async function payAs(cookie: string, card = GOOD_CARD): Promise<void> {
  const page = await sendForm(app, '/console/checkout', { dollars: '10' }, { cookie });
  app.sandbox.control.pay(/cs_test_\w+/.exec(page.text)![0], { card });
  await app.settled();
}

const wanted = { enabled: true, below_cents: 500, amount_cents: 50_000 };
const turnOn = ({ key }: TestTenant) => app.request('PUT', '/v1/billing/auto-top-up', { key, body: wanted });

describe('a signup with the address of another person', () => {
  test('does not take over the log-in of somebody who has a tenant', async () => {
    const email = newAddress();
    const own = await app.signUp({ name: 'My own' });
    await makeMember(db(), idOf(own), { email });
    const captured = await app.signUp({ name: 'Captured', email });
    const stranger = await strangerSignsUp(email);
    const led = await sendForm(app, await linkFor(email, `/console/keys?tenant=${captured.id}`), {});
    expect(await tenantOpenIn(cookieOf(led))).toBe('My own');
    const opened = await sendForm(app, await linkFor(email), {});
    expect(await tenantOpenIn(cookieOf(opened))).toBe('My own');
    const list = (await getPage(app, '/console/tenants', cookieOf(opened))).text;
    expect(list.indexOf('Waiting for your yes')).toBeGreaterThan(0);
    expect(list).toContain('<bdi>Captured</bdi> was signed up with your address');
    const moved = await sendForm(
      app,
      '/console/tenants',
      { tenant: captured.id },
      { cookie: cookieOf(opened) },
    );
    expect(moved.status).toBe(404);
    expect(await statusOf(stranger.cookie)).toBe(200);
  });

  test('asks somebody who has none, and a log-in without a yes opens nothing', async () => {
    const email = newAddress();
    const { cookie: stranger, tenant } = await strangerSignsUp(email);
    expect((await getPage(app, '/console/start', stranger)).text).toContain('It is not proved yet that');
    const link = await linkFor(email);
    const shown = await getPage(app, link);
    expect(shown.text).toContain('<bdi>Theatre X</bdi> was signed up with your address');
    const without = await sendForm(app, link, {});
    expect([without.status, without.headers.get('location'), without.headers.get('set-cookie')]).toEqual([
      303,
      link,
      null,
    ]);
    expect(await statusOf(stranger)).toBe(200);
    const joined = await joinByLink(app, link, tenant);
    expect([joined.status, await statusOf(stranger)]).toEqual([303, 303]);
    // Nothing else existed, so there is nothing to ask about.
    expect(await statusOf(cookieOf(joined))).toBe(200);
    expect((await getPage(app, '/console/start', cookieOf(joined))).text).not.toContain('It is not proved');
    expect((await getPage(app, link)).status).toBe(404);
  });

  test('shows the founder what exists, and opens no page of the tenant before all of it is answered', async () => {
    const email = newAddress();
    const tenant = await app.signUp({ name: 'Two keys', email });
    await app.request('POST', '/v1/webhooks', {
      key: tenant.key,
      body: { url: 'https://x.example/', types: [] },
    });
    const other = await invite(tenant, newAddress());
    const cookie = cookieOf(await joinByLink(app, await linkFor(email), tenant.id));
    for (const path of ['/console', '/console/keys', '/console/top-up', '/console/rooms/events']) {
      const led = await getPage(app, path, cookie);
      expect([led.status, led.headers.get('location')]).toEqual([303, '/console/review']);
    }
    expect(
      (await sendForm(app, '/console/checkout', { dollars: '10' }, { cookie })).headers.get('location'),
    ).toBe('/console/review');
    const page = (await getPage(app, '/console/review', cookie)).text;
    for (const id of [tenant.keyId, tenant.relayKeyId, other]) expect(page).toContain(id);
    expect(page).toContain('the person who signed up');
    expect(page).toContain('x.example');
    const answer = (fields: Record<string, string>) => sendForm(app, '/console/review', fields, { cookie });
    const keep = { kind: 'key', id: tenant.keyId, answer: 'keep' };
    expect((await answer(keep)).status).toBe(303);
    // A key that is made meanwhile is asked about as well.
    const late = await app.request('POST', '/v1/keys', { key: tenant.relayKey, body: { name: 'late' } });
    expect(late.status).toBe(401);
    expect((await answer({ ...keep, id: '0123456789abcdef' })).status).toBe(404);
    await answer({ kind: 'all', answer: 'remove' });
    expect(await statusOf(cookie)).toBe(200);
    expect((await app.request('GET', '/v1/billing', { key: tenant.key })).status).toBe(200);
    expect(
      (await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records: [] } })).status,
    ).toBe(401);
    const { json } = await app.request('GET', '/v1/audit', { key: tenant.key });
    expect(json.entries.map(({ action }: { action: string }) => action)).toEqual(
      expect.arrayContaining([
        'member_joined',
        'access_kept',
        'key_revoked',
        'member_removed',
        'webhook_deleted',
      ]),
    );
  });

  test('lets the founder keep all at once, after one question, and nothing that came after the list', async () => {
    const email = newAddress();
    const tenant = await app.signUp({ name: 'All mine', email });
    const colleague = newAddress();
    await invite(tenant, colleague);
    const cookie = cookieOf(await joinByLink(app, await linkFor(email), tenant.id));
    const answer = (fields: Record<string, string>) =>
      sendForm(app, '/console/review', { kind: 'all', answer: 'keep', ...fields }, { cookie });
    const seenNow = async () =>
      /name="seen" value="(\w+)"/.exec((await getPage(app, '/console/review', cookie)).text)![1]!;
    const seen = await seenNow();
    const asked = await answer({ seen });
    expect([asked.status, asked.text.includes('<h1>Keep all 3?</h1>')]).toEqual([200, true]);
    for (const name of [tenant.keyId, tenant.relayKeyId, colleague]) expect(asked.text).toContain(name);
    await invite(tenant, newAddress());
    for (const fields of [{ seen }, { seen, confirm: 'keep-all' }, { confirm: 'keep-all' }]) {
      const late = await answer(fields);
      expect(decodeURIComponent(late.headers.get('set-cookie')!)).toContain('the list has changed meanwhile');
    }
    expect([await auditOf(tenant, 'access_kept'), await statusOf(cookie)]).toEqual([0, 303]);
    await answer({ seen: await seenNow(), confirm: 'keep-all' });
    expect([await auditOf(tenant, 'access_kept'), await statusOf(cookie)]).toEqual([4, 200]);
    expect((await app.request('GET', '/v1/billing', { key: tenant.key })).status).toBe(200);
  });

  test('asks the founder about each key for agents', async () => {
    const email = newAddress();
    const { tenant, cookie: stranger } = await strangerSignsUp(email);
    const make = async (name: string) => {
      const fields = { form: randomUUID(), name, role: 'viewer', writes: '0', days: '9' };
      const { text } = await sendForm(app, '/console/agents', fields, { cookie: stranger });
      return /agent_([0-9a-f]{16})_/.exec(text)![1]!;
    };
    const [kept, removed] = [await make('kept'), await make('removed')];
    const cookie = cookieOf(await joinByLink(app, await linkFor(email), tenant));
    const answer = (id: string, said: string) =>
      sendForm(app, '/console/review', { kind: 'agent', id, answer: said }, { cookie });
    expect((await getPage(app, '/console/review', cookie)).text).toContain('key for agents');
    await answer(kept, 'keep');
    expect(await statusOf(cookie)).toBe(303);
    await answer(removed, 'remove');
    expect(await statusOf(cookie)).toBe(200);
    const keys = await listAgentKeys(db(), idOf({ id: tenant }));
    expect(keys.map(({ name, revokedAt }) => [name, revokedAt === null])).toEqual([
      ['kept', true],
      ['removed', false],
    ]);
  });

  test('gives the stranger neither the card nor the tenant', async () => {
    const email = newAddress();
    const tenant = await app.signUp({ email });
    const stranger = await strangerSignsUp(email);
    const cookie = cookieOf(await joinByLink(app, await linkFor(email), tenant.id));
    await sendForm(app, '/console/review', { kind: 'all', answer: 'remove' }, { cookie });
    await payAs(cookie);
    expect((await turnOn(tenant)).status).toBe(401);
    expect(await statusOf(stranger.cookie)).toBe(200);
    expect(await tenantOpenIn(cookie)).toBe('Ada Video');
  });
});

describe('the card of a member', () => {
  test('is charged by no key that nobody vouches for, until the founder keeps it', async () => {
    const email = newAddress();
    const tenant = await app.signUp({ email });
    const payer = await makeMember(db(), idOf(tenant), { role: 'finance' });
    await payAs(payer.cookie);
    const refused = await turnOn(tenant);
    expect([refused.status, refused.json.error]).toEqual([
      403,
      expect.stringContaining('a member paid with'),
    ]);
    const next = await app.request('POST', '/v1/keys', { key: tenant.key, body: { name: 'another' } });
    expect((await turnOn({ ...tenant, key: next.json.api_key })).status).toBe(403);
    // A session by the key counts as the key.
    const link = await app.request('POST', '/console/session', { key: tenant.key });
    const byKey = cookieOf(await sendForm(app, new URL(link.json.url).pathname, {}));
    const form = { enabled: 'on', below: '5', amount: '500' };
    expect((await sendForm(app, '/console/top-up', form, { cookie: byKey })).status).toBe(403);

    const cookie = cookieOf(await joinByLink(app, await linkFor(email), tenant.id));
    await sendForm(app, '/console/review', { kind: 'key', id: tenant.keyId, answer: 'keep' }, { cookie });
    await sendForm(
      app,
      '/console/review',
      { kind: 'key', id: tenant.relayKeyId, answer: 'keep' },
      { cookie },
    );
    expect((await turnOn(tenant)).status).toBe(200);
    expect((await turnOn({ ...tenant, key: next.json.api_key })).status).toBe(403);
    await kit.spend(tenant, 600);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded' });
  });

  test('is not charged by settings from before it was saved, not even by an attempt that is open', async () => {
    const tenant = await app.paidTenant({ cents: 1000, card: OTHER_CARD });
    expect((await turnOn(tenant)).status).toBe(200);
    const payer = await makeMember(db(), idOf(tenant), { role: 'finance' });
    await payAs(payer.cookie);
    await db().query(
      `insert into top_up_attempts (id, tenant_id, amount) values ('tu_' || repeat('a', 32), $1, 500000000)`,
      [idOf(tenant)],
    );
    app.service.deps.wakeTopUps();
    expect(await kit.finished(tenant)).toMatchObject({ state: 'canceled', payment_id: null });
    await kit.spend(tenant, 1000);
    await kit.spend(tenant, 800);
    expect(await kit.attemptsOf(tenant)).toHaveLength(1);
    expect((await kit.billing(tenant)).tenant.last_top_up_error).toContain('[foreign_card]');
    // A member turns it on.
    const owner = await makeMember(db(), idOf(tenant));
    const form = { enabled: 'on', below: '5', amount: '20' };
    expect((await sendForm(app, '/console/top-up', form, { cookie: owner.cookie })).status).toBe(303);
    await kit.spend(tenant, 1);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded' });
  });

  test('is not that of a member if a signup paid with it', async () => {
    const { cookie, tenant: id } = await strangerSignsUp(newAddress());
    await payAs(cookie);
    const { rows } = await db().query(
      'select card_member, payment_method_id from payment_settings where tenant_id = $1',
      [idOf({ id })],
    );
    expect(rows[0]).toMatchObject({ card_member: null, payment_method_id: expect.any(String) });
  });
});

describe('an invitation', () => {
  test('is declined: the row goes, and the audit trail has it', async () => {
    const tenant = await app.signUp();
    const email = newAddress();
    const id = await invite(tenant, email);
    const link = await linkFor(email);
    const declined = await sendForm(app, link, { tenant: tenant.id, answer: 'decline' });
    expect([declined.status, declined.headers.get('set-cookie')]).toEqual([200, null]);
    expect((await db().query('select from members where id = $1', [id])).rowCount).toBe(0);
    expect(await auditOf(tenant, 'invitation_declined')).toBe(1);
    expect((await getPage(app, link)).status).toBe(404);
  });

  test('is accepted once, by twenty answers at the same time', async () => {
    const tenant = await app.signUp();
    const email = newAddress();
    await invite(tenant, email);
    const own = await makeMember(db(), idOf(await app.signUp()), { email });
    const fields = { tenant: tenant.id, answer: 'join' };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        sendForm(app, '/console/tenants/invitations', fields, { cookie: own.cookie }),
      ),
    );
    // Joining begins a new session: what asks with the old one later is told that it has ended.
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404 || status === 401)).toHaveLength(19);
    expect(await auditOf(tenant, 'member_joined')).toBe(1);
  });

  test('that is taken back meanwhile makes nobody a member', async () => {
    const tenant = await app.signUp();
    const email = newAddress();
    const id = await invite(tenant, email);
    const owner = await makeMember(db(), idOf(tenant));
    const link = await linkFor(email);
    const [removal, answer] = await Promise.all([
      sendForm(app, `/console/members/${id}/remove`, {}, { cookie: owner.cookie }),
      joinByLink(app, link, tenant.id),
    ]);
    expect(removal.status).toBe(303);
    expect([303, 404]).toContain(answer.status);
    expect(await statusOf(cookieOf(answer))).toBe(303);
    expect((await db().query('select from members where id = $1', [id])).rowCount).toBe(0);
  });

  test('ends after 14 days, until it is sent again', async () => {
    const tenant = await app.signUp({ name: 'Late' });
    const owner = await makeMember(db(), idOf(tenant));
    const email = newAddress();
    const id = await invite(tenant, email);
    const own = await makeMember(db(), idOf(await app.signUp()), { email });
    const age = (days: number) =>
      db().query(
        'update members set created_at = now() - make_interval(days => $2, mins => -1) where id = $1',
        [id, days],
      );
    const isOffered = async () =>
      (await getPage(app, '/console/tenants', own.cookie)).text.includes('<bdi>Late</bdi>');
    const sayYes = async () =>
      (
        await sendForm(
          app,
          '/console/tenants/invitations',
          { tenant: tenant.id, answer: 'join' },
          { cookie: own.cookie },
        )
      ).status;
    await age(14);
    expect(await isOffered()).toBe(true);
    await age(15);
    expect([await isOffered(), await sayYes()]).toEqual([false, 404]);
    const { text } = await getPage(app, '/console/members', owner.cookie);
    expect(text).toContain('invitation expired');
    const again = await sendForm(app, `/console/members/${id}/invite`, {}, { cookie: owner.cookie });
    expect(again.status).toBe(303);
    expect(decodeURIComponent(again.headers.get('set-cookie')!)).toContain(`Invitation sent to ${email}.`);
    expect((await mails.waitFor(email, 1)).at(-1)).toContain(`Invited by: ${owner.email}`);
    expect(await auditOf(tenant, 'member_invited')).toBe(1);
    expect([await isOffered(), await sayYes()]).toEqual([true, 303]);
    const sendAgain = async () =>
      (await sendForm(app, `/console/members/${id}/invite`, {}, { cookie: owner.cookie })).status;
    // The person has joined. What is refused uses nothing up.
    for (let at = 0; at < INVITATIONS_LIMIT.pending; at += 1) expect(await sendAgain()).toBe(404);
    await invite(tenant, newAddress());
  });

  test('of a founder does not end, and names nobody whose address is not proved', async () => {
    const email = newAddress();
    const { cookie, tenant } = await strangerSignsUp(email);
    const { text } = await getPage(app, '/console/members', cookie);
    expect(text).toContain('address not proved');
    expect(text).not.toContain('>invited<');
    const friend = newAddress();
    await sendForm(app, '/console/members', { email: friend, role: 'viewer' }, { cookie });
    expect((await mails.waitFor(friend, 1))[0]).not.toContain('Invited by');
    await db().query(`update members set created_at = now() - interval '90 days' where email = $1`, [email]);
    expect((await joinByLink(app, await linkFor(email), tenant)).status).toBe(303);
  });

  test('is asked about after a log-in with the issuer, which proved the address', async () => {
    const tenant = await app.signUp({ name: 'By issuer' });
    const email = newAddress();
    await invite(tenant, email, 'viewer');
    const { url, cookie } = await begin(app);
    const back = await comeBack(app, issuer.logIn(url, verified(email)), cookie);
    expect([back.status, cookiesOf(back)[COOKIE]]).toEqual([303, undefined]);
    const at = back.headers.get('location')!;
    expect((await getPage(app, at)).text).toContain('<bdi>By issuer</bdi> invites you as viewer');
    const session = cookieOf(await joinByLink(app, at, tenant.id));
    expect(await statusOf(session)).toBe(200);
    const { rows } = await db().query(
      'select s.proof from console_sessions s join members m on m.id = s.member_id where m.email = $1',
      [email],
    );
    expect(rows).toEqual([{ proof: 'oidc' }]);
  });

  test('is asked about after a log-in with a passkey, whose session ends with the passkey', async () => {
    const own = await app.paidTenant();
    const tenant = await app.signUp({ name: 'By passkey' });
    const member = await makeMember(db(), idOf(own));
    await invite(tenant, member.email);
    const post = (path: string, fields: Record<string, string>, cookie = '') =>
      sendForm(app, `/console/passkeys${path}`, fields, { cookie, headers: client() });
    const authenticator = new Authenticator(LOCAL_URL);
    const made = authenticator.make((await post('/options', {}, member.cookie)).json);
    expect((await post('', { name: 'laptop', answer: made }, member.cookie)).status).toBe(303);
    await changeStatus(db(), { kind: 'operator', id: 'test' }, idOf(own), 'suspended', 'test');
    const signed = authenticator.sign((await post('/login/options', {})).json);
    const answer = await post('/login', { answer: signed, next: '/console' });
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([303, null]);
    const session = cookieOf(await joinByLink(app, answer.headers.get('location')!, tenant.id));
    expect(await tenantOpenIn(session)).toBe('By passkey');
    await db().query('delete from passkeys where email = $1', [member.email]);
    expect(await statusOf(session)).toBe(303);
  });
});

describe('a founder', () => {
  const confirm = 'leave-credit';

  test('is told when the address signed up and what the tenant holds, without a note that the address is not proved', async () => {
    const email = newAddress();
    const { cookie } = await strangerSignsUp(email);
    await payAs(cookie);
    const { text } = await getPage(app, await linkFor(email), cookie);
    expect(text).toMatch(/signed up with your address on <time/);
    expect(text).toContain('Its balance is <strong>$10.00</strong>');
    expect(text).toContain('You have proved that');
    expect(text).not.toContain('It is not proved');
  });

  test('is asked once more before credit is left behind', async () => {
    const email = newAddress();
    const { cookie, tenant } = await strangerSignsUp(email);
    await payAs(cookie);
    const link = await linkFor(email);
    const asked = await sendForm(app, link, { tenant, answer: 'decline' });
    expect([asked.status, asked.text.includes('leave $10.00 behind?')]).toEqual([200, true]);
    expect(await statusOf(cookie, '/console/start')).toBe(200);
    const declined = await sendForm(app, link, { tenant, answer: 'decline', confirm });
    expect(declined.text).toContain('You declined');
    expect(await statusOf(cookie, '/console/start')).toBe(303);
  });

  test('is asked in the list of tenants, too, and not where nothing is left behind', async () => {
    const email = newAddress();
    const own = await makeMember(db(), idOf(await app.signUp()), { email });
    const { cookie, tenant } = await strangerSignsUp(email);
    await payAs(cookie);
    const { tenant: empty } = await strangerSignsUp(email, 'Empty');
    const path = '/console/tenants/invitations';
    const decline = (fields: object) => sendForm(app, path, { answer: 'decline', ...fields } as never, own);
    expect((await decline({ tenant: empty })).status).toBe(303);
    expect((await decline({ tenant })).text).toContain('leave $10.00 behind?');
    expect((await decline({ tenant, confirm })).status).toBe(303);
    expect((await decline({ tenant, confirm })).status).toBe(404);
  });
});

describe('members of a tenant', () => {
  test('are removed after a question', async () => {
    const tenant = await app.signUp({ email: newAddress() });
    const owner = await makeMember(db(), idOf(tenant));
    const other = await makeMember(db(), idOf(tenant), { role: 'viewer' });
    const list = await getPage(app, '/console/members', owner.cookie);
    expect(list.text).toContain(`href="/console/members/${other.id}/remove"`);
    const asked = await getPage(app, `/console/members/${other.id}/remove`, owner.cookie);
    expect(asked.text).toContain(`Remove <bdi>${other.email}</bdi>?`);
    expect(await statusOf(other.cookie)).toBe(200);
    expect((await getPage(app, '/console/members/m_0/remove', owner.cookie)).status).toBe(404);
    expect((await getPage(app, `/console/members/${owner.id}/remove`, other.cookie)).status).toBe(403);
  });

  const post = (path: string, cookie: string, fields = {}) =>
    sendForm(app, `/console/members/${path}`, fields, { cookie });

  test('do not change the role of a founder who has yet to say what may stay', async () => {
    const email = newAddress();
    const tenant = await app.signUp({ email });
    const other = await makeMember(db(), idOf(tenant));
    await joinByLink(app, await linkFor(email), tenant.id);
    const { rows } = await db().query('select id from members where email = $1', [email]);
    const answer = await post(`${rows[0].id}/role`, other.cookie, { role: 'finance' });
    expect(answer.status).toBe(403);
  });

  test('keep an owner who has joined: one who is only invited does not count', async () => {
    const tenant = await app.signUp({ email: newAddress() });
    const owner = await makeMember(db(), idOf(tenant));
    expect((await post(`${owner.id}/remove`, owner.cookie)).status).toBe(409);
    const second = await makeMember(db(), idOf(tenant));
    expect((await post(`${owner.id}/remove`, second.cookie)).status).toBe(303);
  });
});

describe('many tenants', () => {
  /** So many rows of the address, written straight into the database. */
  async function flood(email: string, count: number, { joined }: { joined: boolean }): Promise<void> {
    await db().query(
      `with made as (
         insert into tenants (id, name, email)
         select (random() * 1e15)::bigint * 1000 + n, 'Flood ' || n, $1 from generate_series(1, $2) n returning id)
       insert into members (tenant_id, id, email, role, joined_at, last_used_at, is_founder)
       select id, 'm_' || md5(id::text), $1, 'owner', case when $3 then now() - interval '1 day' end,
              case when $3 then now() - interval '1 day' end, not $3 from made`,
      [email, count, joined],
    );
  }

  test('1,000 signups with the address of a person neither hide nor reorder the own tenants', async () => {
    const email = newAddress();
    const [first, second] = [await app.signUp({ name: 'Own 1' }), await app.signUp({ name: 'Own 2' })];
    await makeMember(db(), idOf(first), { email });
    await makeMember(db(), idOf(second), { email });
    await flood(email, 1000, { joined: false });
    const cookie = cookieOf(await sendForm(app, await linkFor(email), {}));
    expect(await tenantOpenIn(cookie)).toBe('Own 2');
    const list = (await getPage(app, '/console/tenants', cookie)).text;
    expect(list.match(/<th scope="row" data-label="Name"><bdi>[^<]+/g)).toHaveLength(2);
    expect(list.match(/was signed up with your address<\/h2>/g)).toHaveLength(50);
    const [, older] = /href="([^"]*after_invitation[^"]*)"/.exec(list)!;
    expect(
      (await getPage(app, older!, cookie)).text.match(/was signed up with your address<\/h2>/g),
    ).toHaveLength(50);
    const moved = await sendForm(app, '/console/tenants', { tenant: first.id }, { cookie });
    expect(await tenantOpenIn(cookieOf(moved))).toBe('Own 1');
    // The next log-in opens the one that was used last.
    expect(await tenantOpenIn(cookieOf(await sendForm(app, await linkFor(email), {})))).toBe('Own 1');
  });

  test('whoever has 120 reaches each of them', async () => {
    const email = newAddress();
    await flood(email, 120, { joined: true });
    const oldest = await app.signUp({ name: 'Oldest' });
    await makeMember(db(), idOf(oldest), { email });
    await db().query(
      `update members set last_used_at = now() - interval '9 days' where tenant_id = $1 and email = $2`,
      [idOf(oldest), email],
    );
    const cookie = cookieOf(await sendForm(app, await linkFor(email), {}));
    let path: string | undefined = '/console/tenants';
    let seen = 0;
    while (path) {
      const { text }: Answer = await getPage(app, path, cookie);
      seen += text.match(/<th scope="row" data-label="Name">/g)?.length ?? 0;
      path = /href="(\/console\/tenants\?after=[^"]*)"/.exec(text)?.[1];
    }
    expect(seen).toBe(121);
    const moved = await sendForm(app, '/console/tenants', { tenant: oldest.id }, { cookie });
    expect(await tenantOpenIn(cookieOf(moved))).toBe('Oldest');
  });
});
