import { beforeAll, describe, expect, test } from 'vitest';
import {
  LOGIN_MAIL_GAPS,
  LOGIN_MAILS_PER_HOUR,
  LOGIN_REQUESTS_PER_HOUR,
  WRONG_LINKS_PER_MINUTE,
} from '../../../src/access/logins/login-limit.ts';
import { changeStatus } from '../../../src/money/tenant-status/change-status.ts';
import { runAdmin } from '../../run/admin/support.ts';
import { cookieOf, getPage, makeMailLog, makeMember, sendForm } from '../../support/console.ts';
import { databaseText, formsOf } from '../../support/database-text.ts';
import { ask, type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const mails = makeMailLog();
const app = useService({ log: mails.log, isRestricted: true });
let tenant: TestTenant;
const db = () => app.service.deps.db;

beforeAll(async () => {
  tenant = await app.paidTenant();
});

let clients = 0;
/** A client that asked for nothing so far. */
function client(): { headers: Record<string, string> } {
  clients += 1;
  return { headers: { 'x-forwarded-for': `203.0.113.${clients}` } };
}

/** Ask for a mail, and return the path of its link. */
async function askForLink(email: string, next = '/console'): Promise<string> {
  const answer = await sendForm(app, '/console/login', { email, next }, client());
  expect(answer.status).toBe(200);
  return mails.linkTo(email);
}

async function mailsTo(email: string): Promise<number> {
  const { rows } = await db().query('select count(*)::integer from mails where address = $1', [email]);
  return rows[0].count;
}

async function isLoggedIn(cookie: string, url = app.url): Promise<boolean> {
  const answer = await ask(`${url}/console`, 'GET', { headers: { cookie } });
  // A tenant that is suspended has a page that says so.
  expect([200, 303, 403]).toContain(answer.status);
  return answer.status === 200;
}

describe('a log-in by mail', () => {
  test('opens a session at the page that was wanted, with a button and never by opening the link', async () => {
    const { email } = await makeMember(db(), idOf(tenant));
    const link = await askForLink(email, '/console/ledger?kind=usage');
    for (const _ of [1, 2]) {
      const shown = await getPage(app, link);
      expect([shown.status, shown.headers.get('set-cookie')]).toEqual([200, null]);
      expect(shown.text).toContain(email);
    }
    const opened = await sendForm(app, link, {});
    expect([opened.status, opened.headers.get('location')]).toEqual([303, '/console/ledger?kind=usage']);
    expect(opened.headers.get('set-cookie')).toMatch(
      /^boxoffice=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/,
    );
    expect(await isLoggedIn(cookieOf(opened))).toBe(true);
    const { rows } = await db().query('select joined_at from members where email = $1', [email]);
    expect(rows[0].joined_at).toBeInstanceOf(Date);
  });

  test('works once, also for twenty at the same time', async () => {
    const { email } = await makeMember(db(), idOf(tenant));
    const link = await askForLink(email);
    const answers = await Promise.all(Array.from({ length: 20 }, () => sendForm(app, link, {}, client())));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      303,
      ...Array.from({ length: 19 }, () => 404),
    ]);
    expect((await getPage(app, link)).status).toBe(404);
  });

  test('ends after 15 minutes', async () => {
    const { email } = await makeMember(db(), idOf(tenant));
    const link = await askForLink(email);
    await db().query(
      `update login_links set expires_at = expires_at - interval '15 minutes' where email = $1`,
      [email],
    );
    expect((await getPage(app, link)).status).toBe(404);
    expect((await sendForm(app, link, {}, client())).status).toBe(404);
  });

  test('is nobody’s once the member is removed', async () => {
    const { email, id } = await makeMember(db(), idOf(tenant));
    const link = await askForLink(email);
    await db().query('delete from members where id = $1', [id]);
    const answer = await sendForm(app, link, {}, client());
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([404, null]);
  });

  test('says the same of an address that nobody has, and sends it nothing', async () => {
    const { email } = await makeMember(db(), idOf(tenant));
    const known = await sendForm(app, '/console/login', { email }, client());
    const unknown = await sendForm(app, '/console/login', { email: 'stranger@example.com' }, client());
    expect(unknown.status).toBe(known.status);
    expect(unknown.text.replace('stranger@example.com', email)).toBe(known.text);
    expect(await mailsTo(email)).toBe(1);
    expect(await mailsTo('stranger@example.com')).toBe(0);
  });

  test.each([
    '//evil.example',
    'https://evil.example',
    '/console/../x',
    '/console//evil.example',
    '/docs',
    '/console\\@evil',
  ])('leads to no other page: %s', async (next) => {
    const { email } = await makeMember(db(), idOf(tenant));
    const opened = await sendForm(app, await askForLink(email, next), {});
    expect(opened.headers.get('location')).toBe('/console');
  });

  test('replaces the session that the browser had', async () => {
    const { email, cookie } = await makeMember(db(), idOf(tenant));
    const opened = await sendForm(app, await askForLink(email), {}, { cookie });
    expect(cookieOf(opened)).not.toBe(cookie);
    expect([await isLoggedIn(cookie), await isLoggedIn(cookieOf(opened))]).toEqual([false, true]);
  });

  test('reaches every tenant of the address, and a move is no log-in', async () => {
    const other = await app.paidTenant();
    const email = 'two-tenants@example.com';
    await makeMember(db(), idOf(tenant), { email });
    await makeMember(db(), idOf(other), { email, role: 'viewer' });
    const cookie = cookieOf(await sendForm(app, await askForLink(email), {}));
    const shown = await getPage(app, '/console/tenants', cookie);
    expect(shown.text).toContain(tenant.id);
    expect(shown.text).toContain(other.id);
    const here = shown.text.includes(`value="${tenant.id}"`) ? tenant : other;
    await db().query(
      `update console_sessions set created_at = created_at - interval '11 minutes'
                       where member_id in (select id from members where email = $1)`,
      [email],
    );
    const moved = await sendForm(app, '/console/tenants', { tenant: here.id }, { cookie });
    expect([await isLoggedIn(cookie), await isLoggedIn(cookieOf(moved))]).toEqual([false, true]);
    const { rows } = await db().query(
      `select s.tenant_id as tenant, s.created_at < now() - interval '10 minutes' as old
                                         from console_sessions s join members m on m.id = s.member_id where m.email = $1
                                         and s.tenant_id = $2`,
      [email, idOf(here)],
    );
    expect(rows.some(({ old }) => old)).toBe(true);
  });
});

describe('limits', () => {
  test('a stranger who asks locks nobody out of an address', async () => {
    const { email } = await makeMember(db(), idOf(tenant));
    const stranger = client();
    const statuses: number[] = [];
    for (let at = 0; at < LOGIN_MAILS_PER_HOUR + 3; at += 1) {
      const answer = await sendForm(app, '/console/login', { email }, stranger);
      statuses.push(answer.status);
      expect(answer.text.includes('is on its way')).toBe(answer.status === 200);
    }
    expect(statuses).toEqual([...Array.from({ length: LOGIN_MAILS_PER_HOUR }, () => 200), 429, 429, 429]);
    const answer = await sendForm(app, '/console/login', { email }, client());
    expect([answer.status, answer.text.includes('is on its way')]).toEqual([200, true]);
    expect(await mailsTo(email)).toBe(LOGIN_MAILS_PER_HOUR + 1);
  });

  test('many networks slow the mails to an address, and the page says so, whether a member has it or not', async () => {
    const { email } = await makeMember(db(), idOf(tenant));
    const pages: string[][] = [];
    for (const address of [email, 'stranger-2@example.com']) {
      const texts: string[] = [];
      const [{ beyond }] = LOGIN_MAIL_GAPS;
      for (let at = 0; at < beyond + 3; at += 1) {
        const { status, text } = await sendForm(app, '/console/login', { email: address }, client());
        expect(status).toBe(200);
        texts.push(text.replaceAll(address, 'the address'));
      }
      expect(texts.map((text) => text.includes('is on its way'))).toEqual(texts.map((_, at) => at <= beyond));
      expect(texts.at(-1)).toMatch(
        /no further one is sent now.*within the last 10 minutes.*ask again in a minute\./s,
      );
      expect(await mailsTo(address)).toBe(address === email ? beyond + 1 : 0);
      pages.push(texts.map((text) => text.replace(/ask again in .*\./, '')));
    }
    expect(pages[1]).toEqual(pages[0]);
  });

  test('a client asks so often an hour, for whatever addresses', async () => {
    const from = client();
    const statuses: number[] = [];
    for (let at = 0; at <= LOGIN_REQUESTS_PER_HOUR; at += 1) {
      const answer = await sendForm(app, '/console/login', { email: `flood-${at}@example.com` }, from);
      statuses.push(answer.status);
      if (answer.status === 429) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(statuses).toEqual([...Array.from({ length: LOGIN_REQUESTS_PER_HOUR }, () => 200), 429]);
  });

  test('a client guesses so many links a minute', async () => {
    const from = client();
    const statuses: number[] = [];
    for (let at = 0; at <= WRONG_LINKS_PER_MINUTE; at += 1) {
      const token = String(at).padStart(43, 'A');
      statuses.push((await sendForm(app, `/console/login/${token}`, {}, from)).status);
    }
    expect(statuses).toEqual([...Array.from({ length: WRONG_LINKS_PER_MINUTE }, () => 404), 429]);
  });
});

describe('a session ends', () => {
  const ENDS: Readonly<
    Record<string, (member: { id: string; cookie: string }, of: TestTenant) => Promise<unknown>>
  > = {
    'with a log-out': ({ cookie }) => sendForm(app, '/console/logout', {}, { cookie }),
    'when the member is removed': async ({ id }, of) => {
      const owner = await makeMember(db(), idOf(of));
      const answer = await sendForm(app, `/console/members/${id}/remove`, {}, { cookie: owner.cookie });
      expect(answer.status).toBe(303);
    },
    'when the tenant is suspended': (_member, of) =>
      changeStatus(db(), { kind: 'operator', id: 'test' }, idOf(of), 'suspended', 'test'),
    'after twelve idle hours': ({ id }) =>
      db().query(`update console_sessions set seen_at = seen_at - interval '12 hours' where member_id = $1`, [
        id,
      ]),
    'after seven days': ({ id }) =>
      db().query(
        `update console_sessions set created_at = created_at - interval '7 days' where member_id = $1`,
        [id],
      ),
  };

  test.each(Object.entries(ENDS))('%s, at once and in every process', async (_why, end) => {
    const of = await app.paidTenant();
    const others = [await app.another(), await app.another()];
    const member = await makeMember(db(), idOf(of), { role: 'viewer' });
    const urls = [app.url, ...others.map(({ url }) => url)];
    for (const url of urls) expect(await isLoggedIn(member.cookie, url)).toBe(true);
    await end(member, of);
    const accepted = await Promise.all(
      Array.from({ length: 30 }, (_, at) => isLoggedIn(member.cookie, urls[at % urls.length])),
    );
    expect(accepted.filter(Boolean)).toEqual([]);
  });

  test('for good: a tenant that is active again does not bring it back', async () => {
    const of = await app.paidTenant();
    const { cookie } = await makeMember(db(), idOf(of));
    const operator = { kind: 'operator', id: 'test' } as const;
    await changeStatus(db(), operator, idOf(of), 'suspended', 'test');
    await changeStatus(db(), operator, idOf(of), 'active', 'test');
    expect(await isLoggedIn(cookie)).toBe(false);
  });

  test('and the pages behind it are not kept by the browser', async () => {
    const { cookie } = await makeMember(db(), idOf(tenant));
    expect((await getPage(app, '/console/ledger', cookie)).headers.get('cache-control')).toBe('no-store');
  });

  test('whatever the cookie says', async () => {
    for (const cookie of [
      'boxoffice=',
      `boxoffice=${'A'.repeat(43)}`,
      `boxoffice=${'A'.repeat(5000)}`,
      'boxoffice=%00',
    ]) {
      expect(await isLoggedIn(cookie)).toBe(false);
    }
  });
});

describe('a key', () => {
  const exchange = (key: string, headers = {}) =>
    app.request('POST', '/console/session', {
      key,
      headers: { 'x-forwarded-for': '203.0.113.250', ...headers },
    });

  test('is exchanged for a link that works once, and its session ends with it', async () => {
    const of = await app.paidTenant();
    const { json, status } = await exchange(of.key);
    expect(status).toBe(201);
    expect(json.url).toMatch(/^http:\/\/service\.test\/console\/login\/[\w-]{43}$/);
    const link = new URL(json.url).pathname;
    expect((await getPage(app, link)).text).toContain(of.id);
    const cookie = cookieOf(await sendForm(app, link, {}));
    expect(await isLoggedIn(cookie)).toBe(true);
    expect((await sendForm(app, link, {}, client())).status).toBe(404);
    const another = await app.request('POST', '/v1/keys', { key: of.key, body: { name: 'other' } });
    await app.request('DELETE', `/v1/keys/${of.keyId}`, { key: another.json.api_key });
    expect(await isLoggedIn(cookie)).toBe(false);
  });

  test('that is wrong, or of a relay, or of a tenant that is not active is refused as elsewhere', async () => {
    const of = await app.paidTenant();
    expect(await exchange(`${of.key.slice(0, -4)}AAAA`)).toMatchObject({
      status: 401,
      json: { error: 'invalid api key' },
    });
    expect((await exchange(of.relayKey)).status).toBe(401);
    expect((await ask(`${app.url}/console/session`, 'POST')).status).toBe(401);
    await changeStatus(db(), { kind: 'operator', id: 'test' }, idOf(of), 'suspended', 'test');
    expect(await exchange(of.key)).toMatchObject({ status: 403, json: { error: 'tenant is not active' } });
  });
});

describe('admin console login', () => {
  const admin = (...args: string[]) =>
    runAdmin({ DATABASE_URL: app.ownerUrl, PUBLIC_URL: 'http://service.test' }, 'console', 'login', ...args);

  test('prints a link that logs in as an owner, once, and is in the audit trail', async () => {
    const of = await app.paidTenant();
    const { code, out } = await admin('--tenant', of.id);
    expect(code).toBe(0);
    const link = new URL(out.trim()).pathname;
    const cookie = cookieOf(await sendForm(app, link, {}));
    expect((await getPage(app, '/console', cookie)).text).toContain('<span>owner</span>');
    expect((await sendForm(app, link, {}, client())).status).toBe(404);
    const { json } = await app.request('GET', '/v1/audit?action=console_link_made', { key: of.key });
    expect(json.entries).toMatchObject([{ subject: of.id, actor: { kind: 'operator' } }]);
  });

  test('refuses a tenant that does not exist, or is not active', async () => {
    expect((await admin('--tenant', 't_0123456789abcdef')).code).toBe(1);
    const of = await app.paidTenant();
    await changeStatus(db(), { kind: 'operator', id: 'test' }, idOf(of), 'suspended', 'test');
    expect((await admin('--tenant', of.id)).code).toBe(1);
  });
});

describe('a link of a mail', () => {
  const page = '/console/alerts?tenant=';

  test('to a page of another tenant of the person opens that tenant first', async () => {
    const other = await app.paidTenant();
    const email = 'follows-a-link@example.com';
    await makeMember(db(), idOf(other), { email });
    const { cookie } = await makeMember(db(), idOf(tenant), { email });
    expect((await getPage(app, `${page}${tenant.id}`, cookie)).status).toBe(200);
    const led = await getPage(app, `${page}${other.id}`, cookie);
    expect(led.status).toBe(303);
    const chooser = await getPage(app, led.headers.get('location')!, cookie);
    expect(chooser.text).toContain(`name="next" value="${page}${other.id}"`);
    expect(chooser.text).toContain('another tenant is open');
    const fields = { tenant: other.id, next: `${page}${other.id}` };
    const moved = await sendForm(app, '/console/tenants', fields, { cookie });
    expect(moved.headers.get('location')).toBe(`${page}${other.id}`);
    expect((await getPage(app, `${page}${other.id}`, cookieOf(moved))).status).toBe(200);
    const again = await getPage(app, led.headers.get('location')!, cookieOf(moved));
    expect(again.text).not.toContain('another tenant is open');
  });

  test('to a page of a tenant that the person has not shows nothing of it', async () => {
    const other = await app.signUp({ name: 'Secret Name' });
    const { cookie } = await makeMember(db(), idOf(tenant));
    for (const id of [other.id, 't_0123456789abcdef']) {
      const led = await getPage(app, `${page}${id}`, cookie);
      const chooser = await getPage(app, led.headers.get('location')!, cookie);
      expect(chooser.text).toContain('does not reach');
      expect(chooser.text).not.toContain('Secret Name');
    }
    for (const text of ['t_', 'x', '"><script>']) {
      expect((await getPage(app, `${page}${encodeURIComponent(text)}`, cookie)).status).toBe(200);
    }
  });

  test('leads to the page after the log-in', async () => {
    const answer = await getPage(app, `${page}${tenant.id}`);
    expect(answer.headers.get('location')).toBe(
      `/console/login?next=${encodeURIComponent(`${page}${tenant.id}`)}`,
    );
    const { email } = await makeMember(db(), idOf(tenant));
    const opened = await sendForm(app, await askForLink(email, `${page}${tenant.id}`), {});
    expect(opened.headers.get('location')).toBe(`${page}${tenant.id}`);
  });
});

test('no secret of a session or link is in the database', async () => {
  const { email, secret } = await makeMember(db(), idOf(tenant));
  const link = (await askForLink(email)).split('/').at(-1)!;
  const text = await databaseText(db());
  for (const form of [...formsOf(secret), ...formsOf(link)]) expect(text).not.toContain(form);
});
