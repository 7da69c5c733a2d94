import { beforeAll, describe, expect, test } from 'vitest';
import { makeOperatorLink } from '../../../../src/access/operators/log-in-with-link.ts';
import type { OpsRoute } from '../../../../src/doors/ops/console/route.ts';
import { OPS_ROUTES } from '../../../../src/doors/ops/console/routes.ts';
import { sweep } from '../../../../src/run/sweep.ts';
import { runAdmin } from '../../../run/admin/support.ts';
import { COOKIE, cookieOf, makeMember } from '../../../support/console.ts';
import { getOpsPage, makeOperator, OPERATOR_COOKIE, sendOpsForm } from '../../../support/operators.ts';
import { ask, type TestTenant, useService } from '../../../support/service.ts';
import { idOf, OPERATOR } from '../../../support/tenants.ts';

const app = useService({ isRestricted: true });
const db = () => app.service.deps.db;
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.paidTenant();
});

const FORMS = OPS_ROUTES.filter(({ method }) => method === 'POST');
const GUARDED = OPS_ROUTES.filter(({ needs }) => needs === 'operator');
const pathOf = ({ path }: OpsRoute) =>
  path
    .replace(':token', 'A'.repeat(43))
    .replace(':tenant', tenant.id)
    .replace(':kid', 'A'.repeat(43))
    .replace(':id', 'evt_nothing');

/** Everything that a form of operators could change. */
async function state(): Promise<unknown> {
  const { rows } = await db().query(
    `select (select json_agg(json_build_array(id, status, exempt, limits) order by id) from tenants) as tenants,
            (select count(*) from postings) as postings, (select count(*) from audit_entries) as audit,
            (select json_agg(json_build_array(kid, state) order by kid) from signing_keys) as keys,
            (select count(*) from rate_cards) as cards, (select count(*) from verifications) as verifications,
            (select count(*) from login_links) as links, (select count(*) from operator_sessions) as sessions`,
  );
  return rows[0];
}

describe('a form that no page of the console sent', () => {
  const ORIGINS: Readonly<Record<string, Record<string, string>>> = {
    'without an origin': { origin: '' },
    'from another site': { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    'from the console of tenants': { origin: 'http://service.test', 'sec-fetch-site': 'cross-site' },
    'from another port': { origin: 'http://ops.test:81', 'sec-fetch-site': 'same-site' },
    'over another scheme': { origin: 'https://ops.test' },
    'from a page without an origin': { origin: 'null' },
    'with our origin, but cross-site': { 'sec-fetch-site': 'cross-site' },
    'that the person typed': { 'sec-fetch-site': 'none' },
  };
  const cases = FORMS.flatMap((route) =>
    Object.keys(ORIGINS).map((from) => [route.path, from, route] as const),
  );

  test.each(cases)('%s, %s, is refused and changes nothing', async (_path, from, route) => {
    const { cookie } = await makeOperator(db());
    const before = await state();
    const fields = Object.fromEntries((route.fields ?? []).map((name) => [name, 'x']));
    const answer = await sendOpsForm(app, pathOf(route), fields, { cookie, headers: ORIGINS[from]! });
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null]);
    expect(await state()).toEqual(before);
  });

  test('the table has every form', () => {
    expect(FORMS.length).toBeGreaterThan(16);
  });
});

describe('who is no operator', () => {
  test('gets no further than the log-in, whatever tenants’ session the browser has', async () => {
    const member = await makeMember(db(), idOf(tenant));
    for (const cookie of [
      '',
      member.cookie,
      `${OPERATOR_COOKIE}=${member.secret}`,
      `${OPERATOR_COOKIE}=short`,
      `${OPERATOR_COOKIE}=${'A'.repeat(43)}`,
    ]) {
      for (const route of GUARDED) {
        const path = pathOf(route);
        const answer =
          route.method === 'GET'
            ? await getOpsPage(app, path, cookie)
            : await sendOpsForm(app, path, {}, { cookie });
        expect([path, answer.status, answer.headers.get('location')]).toEqual([path, 303, '/console/login']);
      }
    }
  });

  test('an operator’s session opens nothing at the console of tenants', async () => {
    const { secret } = await makeOperator(db());
    const answer = await ask(`${app.url}/console`, 'GET', { headers: { cookie: `${COOKIE}=${secret}` } });
    expect(answer.status).toBe(303);
  });

  test('the pages are on no public port', async () => {
    const { cookie } = await makeOperator(db());
    for (const path of [
      '/console/signing-keys',
      '/console/rates',
      '/console/verify',
      `/console/tenants/${tenant.id}`,
    ]) {
      expect((await ask(`${app.url}${path}`, 'GET', { headers: { cookie } })).status).toBe(404);
    }
  });
});

describe('a session', () => {
  test('begins with a link that works once, by its button', async () => {
    const url = await makeOperatorLink(db(), OPERATOR, app.config.opsUrl);
    expect(url).toMatch(/^http:\/\/ops\.test\/console\/login\/[\w-]{43}$/);
    const path = new URL(url).pathname;
    for (const _ of [1, 2]) {
      const shown = await getOpsPage(app, path);
      expect([shown.status, shown.headers.get('set-cookie')]).toEqual([200, null]);
    }
    const answers = await Promise.all(Array.from({ length: 10 }, () => sendOpsForm(app, path, {})));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(9).fill(404)]);
    const opened = answers.find(({ status }) => status === 303)!;
    expect(opened.headers.get('set-cookie')).toMatch(
      /^boxoffice-operator=[\w-]{43}; Path=\/; Max-Age=28800; HttpOnly; SameSite=Lax$/,
    );
    const cookie = cookieOf(opened);
    expect((await getOpsPage(app, '/console', cookie)).status).toBe(200);
    expect((await getOpsPage(app, path)).status).toBe(404);

    expect((await sendOpsForm(app, '/console/logout', {}, { cookie })).status).toBe(303);
    expect((await getOpsPage(app, '/console', cookie)).status).toBe(303);
  });

  test.each([
    ['an hour without use', `set seen_at = now() - interval '61 minutes'`],
    ['a working day', `set created_at = now() - interval '481 minutes'`],
  ])('ends after %s', async (_what, change) => {
    const { cookie } = await makeOperator(db());
    expect((await getOpsPage(app, '/console', cookie)).status).toBe(200);
    await db().query(`update operator_sessions ${change}`);
    expect((await getOpsPage(app, '/console', cookie)).status).toBe(303);
  });

  test('a link ends after five minutes', async () => {
    const path = new URL(await makeOperatorLink(db(), OPERATOR, app.config.opsUrl)).pathname;
    await db().query(`update operator_links set expires_at = now() - interval '1 second'`);
    expect((await getOpsPage(app, path)).status).toBe(404);
    expect((await sendOpsForm(app, path, {})).status).toBe(404);
  });

  test('that is older does nothing dangerous', async () => {
    const { cookie } = await makeOperator(db(), { minutesAgo: 11 });
    // Those of the tests above, which the service's own job may remove at any time.
    await sweep(app.service.deps);
    const before = await state();
    const dangerous = GUARDED.filter((route) => 'isDangerous' in route && route.isDangerous);
    expect(dangerous.length).toBeGreaterThan(10);
    for (const route of dangerous) {
      const answer = await sendOpsForm(app, pathOf(route), {}, { cookie });
      expect([route.path, answer.headers.get('location')]).toEqual([route.path, '/console/confirm']);
    }
    expect((await getOpsPage(app, '/console/confirm', cookie)).text).toContain('console operator');
    expect(await state()).toEqual(before);
  });

  test('comes from the command line, which ends all of them too', async () => {
    const env = { DATABASE_URL: app.ownerUrl, OPS_URL: app.config.opsUrl };
    const made = await runAdmin(env, 'console', 'operator', '--json');
    expect(made.json.url).toMatch(/^http:\/\/ops\.test\/console\/login\/[\w-]{43}$/);
    const opened = await sendOpsForm(app, new URL(made.json.url).pathname, {});
    const cookie = cookieOf(opened);
    const unused = await runAdmin(env, 'console', 'operator', '--json');
    expect((await runAdmin(env, 'console', 'operator', '--end', '--json')).json.ended).toBeGreaterThan(0);
    expect((await getOpsPage(app, '/console', cookie)).status).toBe(303);
    expect((await getOpsPage(app, new URL(unused.json.url).pathname)).status).toBe(404);
    expect((await runAdmin(env, 'console', 'operator', '--end', '--json')).json).toEqual({ ended: 0 });
    const { rows } = await db().query(
      `select action from audit_entries where action like 'operator%' order by seq desc limit 4`,
    );
    expect(rows.map(({ action }) => action)).toEqual([
      'operator_sessions_ended',
      'operator_link_made',
      'operator_logged_in',
      'operator_link_made',
    ]);
  });
});

describe('what is sent to a form', () => {
  const post = async (raw: string, type = 'application/x-www-form-urlencoded') => {
    const { cookie } = await makeOperator(db());
    return ask(`http://127.0.0.1:${app.service.opsPort}/console/tenants/${tenant.id}/credit`, 'POST', {
      raw,
      headers: { 'content-type': type, origin: 'http://ops.test', cookie },
    });
  };

  test.each([
    ['an unknown field', 'dollars=1&reason=a&role=owner', 'Role is not a known field'],
    ['a field twice', 'dollars=1&dollars=2', 'Dollars must be sent once'],
    ['NUL', 'reason=%00', 'must not contain NUL'],
    ['1 MB', `reason=${'a'.repeat(1_000_000)}`, '64 KiB'],
  ])('%s is refused', async (_what, raw, message) => {
    const before = await state();
    const answer = await post(raw);
    expect([answer.status, answer.text.includes(message)]).toEqual([400, true]);
    expect((await state()) as { postings: bigint }).toMatchObject({
      postings: (before as { postings: bigint }).postings,
    });
  });

  test.each(['application/json', 'text/plain'])('%s is refused', async (type) => {
    expect((await post('{"dollars":"1"}', type)).status).toBe(400);
  });

  test('a page has a policy that allows nothing foreign, and is stored nowhere', async () => {
    const { headers } = await getOpsPage(app, '/console/login');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none';.*form-action 'self'/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('health and metrics are as they were', async () => {
    const base = `http://127.0.0.1:${app.service.opsPort}`;
    expect((await ask(`${base}/healthz`, 'GET')).json).toEqual({ status: 'ok' });
    expect((await ask(`${base}/nothing`, 'GET')).status).toBe(404);
    expect((await ask(`${base}/console/logout`, 'GET')).status).toBe(405);
  });
});
