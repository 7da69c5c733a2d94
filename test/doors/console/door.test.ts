import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ABILITIES, MEMBER_ROLES } from '../../../src/access/rights/abilities.ts';
import type { ConsoleRoute } from '../../../src/doors/console/route.ts';
import { ROUTES } from '../../../src/doors/console/routes.ts';
import { cookieOf, getPage, makeMember, sendForm } from '../../support/console.ts';
import { ask, type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService();
let tenant: TestTenant;
const db = () => app.service.deps.db;

beforeAll(async () => {
  tenant = await app.paidTenant();
});

const POSTS = ROUTES.filter(({ method }) => method === 'POST');
const isForPrograms = (route: ConsoleRoute) => route.needs === 'nothing' && route.isForPrograms;
const FORMS = POSTS.filter((route) => !isForPrograms(route));
const pathOf = ({ path }: ConsoleRoute) =>
  path
    .replace(':token', 'A'.repeat(43))
    .replace(':id', '0123456789abcdef')
    .replace(':month', '2026-01')
    .replace(':room', 'lobby');

/** Everything of the tenant that a form could change. */
async function state(): Promise<unknown> {
  const { rows } = await db().query(
    `select (select count(*) from tenants) as tenants, (select count(*) from api_keys) as keys,
            (select count(*) from api_keys where revoked_at is not null or retires_at is not null) as ended,
            (select count(*) from members) as members, (select count(*) from console_sessions) as sessions,
            (select count(*) from login_links) as links, (select count(*) from passkey_challenges) as challenges,
            (select count(*) from passkeys) as passkeys, (select count(*) from checkouts) as checkouts,
            (select count(*) from webhook_endpoints) as webhooks, (select count(*) from webhook_deliveries) as deliveries,
            (select count(*) from device_credentials) as devices, (select count(*) from agent_keys) as agents, (select count(*) from alert_thresholds) as thresholds,
            (select count(*) from mail_settings) as mail, (select count(*) from audit_entries) as audit,
            (select count(*) from moderation_events) as acts, (select count(*) from bans where lifted_at is null) as bans,
            (select count(*) from watchdogs) as watchdogs, (select count(*) from erasures) as erasures`,
  );
  return rows[0];
}

describe('a form that no page of the console sent', () => {
  const ORIGINS: Readonly<Record<string, Record<string, string>>> = {
    'without an origin': { origin: '' },
    'from another site': { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    'from a neighbouring host': { origin: 'http://other.service.test', 'sec-fetch-site': 'same-site' },
    'from another port': { origin: 'http://service.test:81', 'sec-fetch-site': 'same-site' },
    'over another scheme': { origin: 'https://service.test' },
    'from a page without an origin': { origin: 'null' },
    'with our origin, but cross-site': { 'sec-fetch-site': 'cross-site' },
    'with our origin, but from the same site only': { 'sec-fetch-site': 'same-site' },
    'that the person typed': { 'sec-fetch-site': 'none' },
  };
  const cases = FORMS.flatMap((route) =>
    Object.keys(ORIGINS).map((from) => [route.path, from, route] as const),
  );

  test.each(cases)('%s, %s, is refused and changes nothing', async (_path, from, route) => {
    const { cookie } = await makeMember(db(), idOf(tenant));
    const before = await state();
    const fields = Object.fromEntries((route.fields ?? []).map((name) => [name, 'x']));
    const answer = await sendForm(app, pathOf(route), fields, { cookie, headers: ORIGINS[from]! });
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null]);
    expect(await state()).toEqual(before);
  });

  test('the table has every form', () => {
    expect(FORMS.length).toBeGreaterThan(28);
    expect(POSTS.filter(isForPrograms).map(({ path }) => path)).toEqual(['/console/session']);
  });
});

/** The head of what a GET answers: a stream of events does not end by itself. */
async function headOf(path: string, cookie: string): Promise<{ readonly status: number }> {
  const answer = await fetch(`${app.url}${path}`, { headers: { cookie }, redirect: 'manual' });
  await answer.body?.cancel();
  return answer;
}

describe('roles', () => {
  const GUARDED = ROUTES.filter(({ needs }) => needs !== 'nothing');
  const cases = MEMBER_ROLES.flatMap((role) =>
    GUARDED.map((route) => [role, route.method, route.path, route] as const),
  );

  test.each(cases)('%s: %s %s', async (role, method, _path, route) => {
    const may =
      route.needs === 'session' ||
      (ABILITIES[route.needs as keyof typeof ABILITIES] as readonly string[]).includes(role);
    const { cookie } = await makeMember(db(), idOf(tenant), { role });
    const before = await state();
    const answer =
      method === 'GET'
        ? await headOf(pathOf(route), cookie)
        : await sendForm(app, pathOf(route), {}, { cookie });
    expect(answer.status === 403).toBe(!may);
    expect(answer.status).not.toBe(500);
    if (!may) expect(await state()).toEqual(before);
  });

  test('nobody without a session gets further than the log-in', async () => {
    for (const route of GUARDED) {
      const path = pathOf(route);
      const answer = route.method === 'GET' ? await getPage(app, path) : await sendForm(app, path, {});
      expect([path, answer.status]).toEqual([path, 303]);
      expect(answer.headers.get('location')).toMatch(/^\/console\/login\?next=%2Fconsole/);
    }
  });

  test('what is dangerous needs a log-in of the last ten minutes', async () => {
    const { cookie } = await makeMember(db(), idOf(tenant), { minutesAgo: 11 });
    const before = await state();
    const dangerous = GUARDED.filter((route) => 'isDangerous' in route && route.isDangerous);
    expect(dangerous.filter(({ method }) => method === 'POST').length).toBeGreaterThan(14);
    for (const route of dangerous) {
      const path = pathOf(route);
      const answer =
        route.method === 'GET' ? await getPage(app, path, cookie) : await sendForm(app, path, {}, { cookie });
      expect([path, answer.status]).toEqual([path, 303]);
      expect(answer.headers.get('location')).toMatch(/^\/console\/confirm\?next=%2Fconsole%2F/);
    }
    expect(await state()).toEqual(before);
    expect((await getPage(app, '/console/keys', cookie)).status).toBe(200);
  });

  test('every change needs one of the abilities that no viewer has', () => {
    const changes = GUARDED.filter(({ method, needs }) => method === 'POST' && needs !== 'session');
    expect(changes.map(({ needs }) => needs).sort()).toEqual(
      changes
        .map(({ needs }) => needs)
        .filter((needs) =>
          [
            'pay',
            'change_budgets',
            'change_keys',
            'change_agents',
            'change_members',
            'change_alerts',
            'change_webhooks',
            'moderate',
            'erase_people',
            'export_data',
          ].includes(needs),
        )
        .sort(),
    );
  });
});

describe('what is sent to a form', () => {
  const signup = (raw: string, headers: Record<string, string> = {}) =>
    ask(`${app.url}/console/signup`, 'POST', {
      raw,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: 'http://service.test',
        ...headers,
      },
    });

  test.each([
    ['an unknown field', 'name=a&email=a@example.com&role=owner', 'Role is not a known field'],
    ['a field twice', 'name=a&email=a@example.com&email=b@example.com', 'Email must be sent once'],
    ['NUL', 'name=%00&email=a@example.com', 'must not contain NUL'],
    ['text that is not UTF-8', 'name=%ff&email=a@example.com', 'must be UTF-8'],
    ['too many fields', Array.from({ length: 51 }, (_, at) => `f${at}=`).join('&'), 'at most 50 fields'],
  ])('%s is refused', async (_what, raw, message) => {
    const before = await state();
    const answer = await signup(raw);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(message);
    expect(await state()).toEqual(before);
  });

  test('a text of 1 MB is refused', async () => {
    const answer = await signup(`name=${'a'.repeat(1_000_000)}&email=a@example.com`);
    expect([answer.status, answer.text.includes('64 KiB')]).toEqual([400, true]);
  });

  test.each(['application/json', 'text/plain', 'multipart/form-data; boundary=x'])(
    '%s is refused',
    async (type) => {
      const before = await state();
      const answer = await signup('{"name":"a","email":"a@example.com"}', { 'content-type': type });
      expect(answer.status).toBe(400);
      expect(await state()).toEqual(before);
    },
  );

  test.each([
    [{ name: '', email: 'a@example.com' }, 'name'],
    [{ name: 'a'.repeat(201), email: 'a@example.com' }, 'name'],
    [{ name: 'a\r\nBcc: b@example.com', email: 'a@example.com' }, 'name'],
    [{ name: 'a', email: 'nobody' }, 'email'],
    [{ name: 'a', email: 'a@example.com\r\nBcc: b@example.com' }, 'email'],
    [{ name: 'a', email: '"><script>@example.com' }, 'email'],
    [{ name: 'a', email: `${'a'.repeat(250)}@example.com` }, 'email'],
  ])('%j is told beside the field, and keeps what was typed', async (fields, wrong) => {
    const answer = await sendForm(app, '/console/signup', fields);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(`id="${wrong}-fault"`);
    expect(answer.text).toMatch(new RegExp(`id="${wrong}"[^>]* aria-invalid="true"`));
    expect(answer.text).toMatch(
      new RegExp(`<main[^>]*>\\s*<div[^>]* role="alert"[^>]*>.*href="#${wrong}"`, 's'),
    );
    expect(answer.text).not.toContain('<script>@');
  });

  test('a path with another method is refused', async () => {
    expect((await ask(`${app.url}/console/keys`, 'DELETE')).status).toBe(405);
    expect((await getPage(app, '/console/logout')).status).toBe(405);
    expect((await ask(`${app.url}/`, 'POST')).status).toBe(405);
  });
});

describe('a page', () => {
  test('has a policy that allows nothing foreign, and is stored nowhere', async () => {
    const { headers } = await getPage(app, '/');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; " +
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
  });

  test('leaves the REST interface as it was', async () => {
    expect((await getPage(app, '/nothing')).json).toEqual({ error: 'not found' });
    expect((await getPage(app, '/v1/keys')).json).toEqual({ error: 'invalid api key' });
  });

  test('shows nothing of another tenant', async () => {
    const other = await app.paidTenant();
    const { cookie } = await makeMember(db(), idOf(tenant));
    const records = [
      { id: 'of-the-other', role: 'host', tier: 'hd', seconds: 60, egress_bytes: 1, ingress_bytes: 1 },
    ];
    await app.request('POST', '/v1/usage', { key: other.relayKey, body: { records } });
    expect((await getPage(app, '/console/charge?id=of-the-other', cookie)).status).toBe(404);
    expect((await getPage(app, `/console/keys/${other.keyId}/revoke`, cookie)).status).toBe(404);
    const revoked = await sendForm(
      app,
      `/console/keys/${other.keyId}/revoke`,
      { confirm: 'stop-service' },
      { cookie },
    );
    expect(revoked.status).toBe(404);
    const member = await makeMember(db(), idOf(other));
    expect((await sendForm(app, `/console/members/${member.id}/remove`, {}, { cookie })).status).toBe(404);
    const switched = await sendForm(app, '/console/tenants', { tenant: other.id }, { cookie });
    expect([switched.status, switched.headers.get('set-cookie')]).toEqual([404, null]);
  });
});

describe('the cookie', () => {
  test('of a signup opens a session that may not move to other tenants of the address', async () => {
    const { email } = await makeMember(db(), idOf(tenant), { email: 'both@example.com' });
    const signedUp = await sendForm(app, '/console/signup', { name: 'Not proved', email });
    expect([signedUp.status, signedUp.headers.get('location')]).toEqual([303, '/console/start']);
    const cookie = cookieOf(signedUp);
    expect((await getPage(app, '/console/tenants', cookie)).text).not.toContain(tenant.id);
    expect((await sendForm(app, '/console/tenants', { tenant: tenant.id }, { cookie })).status).toBe(404);
  });
});

afterAll(async () => {
  await app.settled();
});

test('a slash too many leads to the page, with its query', async () => {
  const { status, headers } = await getPage(app, '/console/ledger/?kind=usage');
  expect([status, headers.get('location')]).toEqual([303, '/console/ledger?kind=usage']);
  expect((await getPage(app, '/console/')).headers.get('location')).toBe('/console');
});
