import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { runAdmin } from '../../../run/admin/support.ts';
import { COOKIE, getPage, makeMember } from '../../../support/console.ts';
import { startIssuer, type TestClaims, verified } from '../../../support/issuer.ts';
import { attemptOf, begin, comeBack, cookiesOf } from '../../../support/issuer-login.ts';
import { getOpsPage, makeOperator, OPERATOR_COOKIE, sendOpsForm } from '../../../support/operators.ts';
import { type Answer, useService } from '../../../support/service.ts';
import { idOf } from '../../../support/tenants.ts';

const GROUP = 'boxoffice-operators';
const LOGIN_COOKIE = 'boxoffice-operator-login';
const issuer = await startIssuer({ operatorsGroup: GROUP });
const app = useService({ oidc: issuer.config, isRestricted: true });
const withoutGroup = useService({ oidc: { ...issuer.config, operatorsGroup: undefined } });
const db = () => app.service.deps.db;

afterEach(() => {
  issuer.spoiled = {};
});
afterAll(async () => {
  await issuer.close();
});

const press = async (path = '/console/login/oidc', cookie = '') =>
  attemptOf(await sendOpsForm(app, path, {}, { cookie }), LOGIN_COOKIE);
const back = (url: URL, cookie: string) => getOpsPage(app, `${url.pathname}${url.search}`, cookie);
const titleOf = ({ text }: Answer) => /<h1>(.*?)<\/h1>/.exec(text)?.[1];

async function logIn(claims: TestClaims): Promise<Answer> {
  const { url, cookie } = await press();
  return back(issuer.logIn(url, claims), cookie);
}

async function sessions(): Promise<number> {
  const { rows } = await db().query('select count(*)::int as n from operator_sessions');
  return rows[0].n;
}

describe('a person in the group of operators', () => {
  test('logs in, and has the address as name, in the audit trail too', async () => {
    expect((await getOpsPage(app, '/console/login')).text).toContain('Log in with <bdi>Example ID</bdi>');
    const { url, cookie } = await press();
    const query = new URL(url).searchParams;
    expect([query.get('redirect_uri'), query.get('scope')]).toEqual([
      'http://ops.test/console/login/oidc/callback',
      'openid email groups',
    ]);
    const answer = await back(
      issuer.logIn(url, verified('Grace@Example.com', { groups: ['staff', GROUP] })),
      cookie,
    );
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console']);
    const session = cookiesOf(answer)[OPERATOR_COOKIE]!;
    expect((await getOpsPage(app, '/console', session)).text).toContain('<bdi>grace@example.com</bdi>');
    const { rows } = await db().query(
      `select actor_kind, actor_id, subject from audit_entries where action = 'operator_logged_in'`,
    );
    expect(rows).toEqual([
      { actor_kind: 'operator', actor_id: 'grace@example.com', subject: 'grace@example.com' },
    ]);
  });

  test('whose group only the endpoint of claims tells logs in', async () => {
    issuer.spoiled = { onlyInfo: true };
    expect((await logIn(verified('info@example.com', { groups: GROUP }))).status).toBe(303);
  });

  test('logs in again for what cannot be undone', async () => {
    const { cookie } = await makeOperator(db(), { name: 'again@example.com', minutesAgo: 11 });
    expect((await getOpsPage(app, '/console/confirm', cookie)).text).toContain('Log in again with');
    const begun = await press('/console/confirm/oidc', cookie);
    const query = new URL(begun.url).searchParams;
    expect([query.get('prompt'), query.get('login_hint')]).toEqual(['login', 'again@example.com']);
    const claims = verified('again@example.com', { groups: [GROUP] });
    const answer = await back(issuer.logIn(begun.url, claims), `${cookie}; ${begun.cookie}`);
    expect(answer.status).toBe(303);
    expect((await getOpsPage(app, '/console', cookie)).status).toBe(303);
    const fresh = cookiesOf(answer)[OPERATOR_COOKIE]!;
    expect((await getOpsPage(app, '/console/confirm', fresh)).status).toBe(303);
  });

  test('is logged out, and has no log-in under way, after the end of all sessions', async () => {
    const claims = verified('ended@example.com', { groups: [GROUP] });
    const session = cookiesOf(await logIn(claims))[OPERATOR_COOKIE]!;
    const begun = await press();
    await runAdmin({ DATABASE_URL: app.ownerUrl }, 'console', 'operator', '--end');
    expect((await getOpsPage(app, '/console', session)).status).toBe(303);
    expect((await back(issuer.logIn(begun.url, claims), begun.cookie)).status).toBe(400);
  });
});

describe('no operator is', () => {
  test.each([
    ['a person without groups', {}],
    ['a person in other groups', { groups: ['staff', `${GROUP}-eu`] }],
    ['a person with other claims', { groups: { [GROUP]: true }, roles: [GROUP] }],
  ])('%s', async (_what, more) => {
    const before = await sessions();
    const answer = await logIn(verified('eve@example.com', more));
    expect([answer.status, titleOf(answer)]).toEqual([403, 'This address is not that of an operator']);
    expect(cookiesOf(answer)[OPERATOR_COOKIE]).toBeUndefined();
    expect(await sessions()).toBe(before);
  });

  test('a person whose address is not verified', async () => {
    const answer = await logIn({ email: 'eve@example.com', email_verified: false, groups: [GROUP] });
    expect([answer.status, titleOf(answer)]).toEqual([403, 'Example ID has not verified your address']);
  });

  test('a member, with a log-in that was begun at the console of tenants', async () => {
    const tenant = await app.paidTenant();
    const { email } = await makeMember(db(), idOf(tenant));
    const { url, cookie } = await begin(app);
    const secret = cookie.split('=')[1];
    const there = issuer.logIn(url, verified(email, { groups: [GROUP] }));
    const answer = await back(there, `${LOGIN_COOKIE}=${secret}`);
    expect([answer.status, cookiesOf(answer)[OPERATOR_COOKIE]]).toEqual([400, undefined]);
    const member = cookiesOf(await comeBack(app, there, cookie))[COOKIE]!;
    expect((await getPage(app, '/console', member)).status).toBe(200);
  });

  test('who comes back to another browser', async () => {
    const { url } = await press();
    const other = await press();
    const claims = verified('eve@example.com', { groups: [GROUP] });
    expect((await back(issuer.logIn(url, claims), other.cookie)).status).toBe(400);
  });
});

test('an operator of the command line is not sent to the issuer', async () => {
  const { cookie } = await makeOperator(db(), { name: 'grace', minutesAgo: 11 });
  expect((await getOpsPage(app, '/console/confirm', cookie)).text).not.toContain('Example ID');
  const answer = await sendOpsForm(app, '/console/confirm/oidc', {}, { cookie });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console/confirm']);
});

test('without a group, operators have the command line only', async () => {
  expect((await getOpsPage(withoutGroup, '/console/login')).text).not.toContain('Example ID');
  expect((await sendOpsForm(withoutGroup, '/console/login/oidc', {})).status).toBe(404);
  expect((await getOpsPage(withoutGroup, '/console/login/oidc/callback?state=x')).status).toBe(404);
});
