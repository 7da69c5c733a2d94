import { beforeAll, describe, expect, test } from 'vitest';
import { FAILURES_NOTED_PER_HOUR } from '../../../src/access/logins/login-limit.ts';
import { makeConsoleLink } from '../../../src/access/logins/make-console-link.ts';
import { cookieOf, getPage, makeMailLog, makeMember, sendForm } from '../../support/console.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';

const mails = makeMailLog();
const app = useService({ log: mails.log, isRestricted: true });
const db = () => app.service.deps.db;
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.paidTenant();
});

const PATH = '/console/sessions';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const isOpen = async (cookie: string) => (await getPage(app, '/console', cookie)).status === 200;

/** Log in by mail, as a browser at an address. */
async function logIn(email: string, address = '203.0.113.7'): Promise<string> {
  const headers = { 'x-forwarded-for': address, 'user-agent': FIREFOX };
  await sendForm(app, '/console/login', { email }, { headers });
  return cookieOf(await sendForm(app, await mails.linkTo(email), {}, { headers }));
}

async function idOfSession(member: string): Promise<string> {
  const { rows } = await db().query<{ id: string }>('select id from console_sessions where member_id = $1', [
    member,
  ]);
  return rows[0]!.id;
}

/** The entries of the tenant about log-ins, the oldest first. */
async function entriesOf(of: TestTenant) {
  const { rows } = await db().query(
    `select action, actor_kind as kind, actor_id as actor, address, subject, before, after from audit_entries
      where tenant_id = $1 and action in ('logged_in', 'logged_out', 'login_failed', 'session_ended', 'key_exchanged',
                                          'console_link_used') order by seq`,
    [idOf(of)],
  );
  return rows;
}

describe('a log-in', () => {
  test('and a log-out are in the audit trail, with proof, device and address', async () => {
    const of = await app.paidTenant();
    const { id, email } = await makeMember(db(), idOf(of));
    const cookie = await logIn(email, '203.0.113.20');
    await sendForm(app, '/console/logout', {}, { cookie, headers: { 'x-forwarded-for': '203.0.113.21' } });
    const by = { kind: 'member', actor: id, subject: expect.stringMatching(/^cs_[0-9a-f]{32}$/) };
    expect(await entriesOf(of)).toEqual([
      {
        ...by,
        action: 'logged_in',
        address: '203.0.113.20',
        before: null,
        after: { proof: 'mail', device: 'Firefox on Linux' },
      },
      { ...by, action: 'logged_out', address: '203.0.113.21', before: { proof: 'mail' }, after: null },
    ]);
  });

  test('with a key, and with the link of an operator, too', async () => {
    const of = await app.paidTenant();
    const { json } = await app.request('POST', '/console/session', { key: of.key });
    await sendForm(app, new URL(json.url).pathname, {});
    const url = await makeConsoleLink(db(), OPERATOR, idOf(of), 'http://service.test');
    await sendForm(app, new URL(url).pathname, {});
    expect(await entriesOf(of)).toMatchObject([
      { action: 'key_exchanged', kind: 'key', actor: of.keyId, subject: of.keyId },
      { action: 'logged_in', kind: 'key', actor: of.keyId, after: { proof: 'key' } },
      { action: 'console_link_used', kind: 'operator', address: null, after: { proof: 'operator' } },
    ]);
  });

  test('that failed is noted with the tenant that it was for: a link that was used, a wrong key', async () => {
    const of = await app.paidTenant();
    const { id, email } = await makeMember(db(), idOf(of));
    await sendForm(app, '/console/login', { email }, { headers: { 'x-forwarded-for': '203.0.113.30' } });
    const link = await mails.linkTo(email);
    await sendForm(app, link, {});
    expect((await sendForm(app, link, {}, { headers: { 'x-forwarded-for': '203.0.113.31' } })).status).toBe(
      404,
    );
    const wrong = { key: `${of.key.slice(0, -4)}AAAA`, headers: { 'x-forwarded-for': '203.0.113.32' } };
    expect((await app.request('POST', '/console/session', wrong)).status).toBe(401);
    const failed = { action: 'login_failed', kind: 'system', actor: 'log_in', before: null };
    expect((await entriesOf(of)).slice(1)).toEqual([
      { ...failed, address: '203.0.113.31', subject: id, after: { proof: 'mail' } },
      { ...failed, address: '203.0.113.32', subject: of.keyId, after: { proof: 'key' } },
    ]);
  });

  test('that fails again and again does not fill the trail', async () => {
    const of = await app.paidTenant();
    const tries = async (address: string, count: number) => {
      for (let at = 0; at < count; at += 1) {
        const key = `${of.key.slice(0, -4)}AAAA`;
        await app.request('POST', '/console/session', { key, headers: { 'x-forwarded-for': address } });
      }
    };
    await tries('203.0.113.40', FAILURES_NOTED_PER_HOUR.ofClient + 3);
    expect(await entriesOf(of)).toHaveLength(FAILURES_NOTED_PER_HOUR.ofClient);
    for (let at = 0; at < 10; at += 1) await tries(`203.0.113.${50 + at}`, 4);
    expect(await entriesOf(of)).toHaveLength(FAILURES_NOTED_PER_HOUR.ofTenant);
  });
});

describe('the page of sessions', () => {
  test('shows device, network, proof and which one is this, and no secret', async () => {
    const { email } = await makeMember(db(), idOf(tenant));
    const cookie = await logIn(email, '203.0.113.60');
    await logIn(email, '2001:db8:1:2::3');
    const { text } = await getPage(app, PATH, cookie);
    for (const words of [
      'Firefox on Linux',
      '203.0.113.0/24',
      '2001:db8:1::/48',
      'a link by mail',
      'this session',
    ])
      expect(text).toContain(words);
    const { rows } = await db().query(`select encode(hash, 'hex') as hex, encode(hash, 'base64') as base64
      from console_sessions`);
    for (const { hex, base64 } of rows) {
      expect(text).not.toContain(hex.slice(0, 16));
      expect(text).not.toContain(base64.slice(0, 16));
    }
    expect(text).not.toContain(cookie.split('=')[1]);
  });

  test('ends one session, or all others, of every tenant of the person', async () => {
    const other = await app.paidTenant();
    const email = 'elsewhere@example.com';
    const here = await makeMember(db(), idOf(tenant), { email });
    const there = await makeMember(db(), idOf(other), { email });
    const cookie = await logIn(email, '203.0.113.70');
    const third = await logIn(email, '203.0.113.71');
    const session = await idOfSession(there.id);
    await sendForm(app, `${PATH}/end`, { session }, { cookie });
    expect([await isOpen(there.cookie), await isOpen(here.cookie)]).toEqual([false, true]);
    await sendForm(app, `${PATH}/end-others`, {}, { cookie });
    expect([await isOpen(here.cookie), await isOpen(third), await isOpen(cookie)]).toEqual([
      false,
      false,
      true,
    ]);
    expect((await entriesOf(other)).at(-1)).toMatchObject({
      action: 'session_ended',
      kind: 'member',
      actor: there.id,
      before: { proof: 'mail', member: there.id },
    });
  });

  test('ends nobody else’s session', async () => {
    const of = await app.paidTenant();
    const owner = await makeMember(db(), idOf(of));
    const viewer = await makeMember(db(), idOf(of), { role: 'viewer' });
    const stranger = await makeMember(db(), idOf(tenant));
    const session = await idOfSession(owner.id);
    for (const { cookie } of [viewer, stranger]) {
      await sendForm(app, `${PATH}/end`, { session }, { cookie });
      await sendForm(app, `${PATH}/end-others`, {}, { cookie });
      await sendForm(app, `${PATH}/of-members/end`, { session }, { cookie });
    }
    expect(await isOpen(owner.cookie)).toBe(true);
    expect((await getPage(app, PATH, viewer.cookie)).text).not.toContain(owner.email);
  });

  test('lets an owner who is a person see and end those of members, keys and operators', async () => {
    const of = await app.paidTenant();
    const owner = await makeMember(db(), idOf(of));
    const viewer = await makeMember(db(), idOf(of), { role: 'viewer' });
    const { json } = await app.request('POST', '/console/session', { key: of.key });
    const byKey = cookieOf(await sendForm(app, new URL(json.url).pathname, {}));
    const { text } = await getPage(app, PATH, owner.cookie);
    expect(text).toContain(viewer.email);
    expect(text).toContain(of.keyId);
    const session = await idOfSession(viewer.id);
    const refused = await sendForm(app, `${PATH}/of-members/end`, { session }, { cookie: byKey });
    expect([refused.status, await isOpen(viewer.cookie)]).toEqual([403, true]);
    await sendForm(app, `${PATH}/of-members/end`, { session }, { cookie: owner.cookie });
    expect([await isOpen(viewer.cookie), await isOpen(owner.cookie)]).toEqual([false, true]);
    expect((await entriesOf(of)).at(-1)).toMatchObject({
      action: 'session_ended',
      actor: owner.id,
      subject: session,
      before: { member: viewer.id },
    });
  });
});

describe('a session that ends with something else', () => {
  test('has the entry of that change and none of its own, as the page says', async () => {
    const of = await app.paidTenant();
    const owner = await makeMember(db(), idOf(of));
    const { id, cookie } = await makeMember(db(), idOf(of), { role: 'viewer' });
    await sendForm(app, `/console/members/${id}/remove`, {}, owner);
    expect(await isOpen(cookie)).toBe(false);
    expect(await entriesOf(of)).toEqual([]);
    const { text } = await getPage(app, PATH, owner.cookie);
    expect(text).toContain('the entry of that change is the record');
    expect(text).not.toContain('each end is in the audit trail');
  });
});
