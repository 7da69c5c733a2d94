import { Writable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ATTEMPTS_PER_MINUTE, WRONG_LINKS_PER_MINUTE } from '../../../src/access/logins/login-limit.ts';
import { makeLog } from '../../../src/base/telemetry/log.ts';
import { changeStatus } from '../../../src/money/tenant-status/change-status.ts';
import { sweep } from '../../../src/run/sweep.ts';
import { COOKIE, getPage, makeMember, sendForm } from '../../support/console.ts';
import {
  type IssuerMood,
  type Spoiled,
  startIssuer,
  type TestClaims,
  verified,
} from '../../support/issuer.ts';
import { attemptOf, begin, comeBack, cookiesOf, LOGIN_COOKIE } from '../../support/issuer-login.ts';
import { type Answer, ask, type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const issuer = await startIssuer();
let logged = '';
const log = makeLog(
  'trace',
  new Writable({
    write: (chunk, _encoding, done) => {
      logged += String(chunk);
      done();
    },
  }),
);
const app = useService({ log, oidc: issuer.config, isRestricted: true });
let tenant: TestTenant;
const db = () => app.service.deps.db;

beforeAll(async () => {
  tenant = await app.paidTenant();
});
afterEach(() => {
  Object.assign(issuer, { mood: 'well', tokenMood: 'well', spoiled: {} });
  issuer.methods.length = 0;
});
afterAll(async () => {
  await issuer.close();
});

/** Log in from the button to the end. */
async function logIn(claims: TestClaims, next?: string): Promise<Answer> {
  const { url, cookie } = await begin(app, next);
  return comeBack(app, issuer.logIn(url, claims), cookie);
}

async function sessions(): Promise<number> {
  const { rows } = await db().query('select count(*)::int as n from console_sessions');
  return rows[0].n;
}

/** The answer is a page with this title, and no session is open. */
async function expectRefused(answer: Promise<Answer>, status: number, title: string): Promise<Answer> {
  const before = await sessions();
  const refused = await answer;
  expect([refused.status, /<h1>(.*?)<\/h1>/.exec(refused.text)?.[1]]).toEqual([status, title]);
  expect(cookiesOf(refused)[COOKIE]).toBeUndefined();
  expect(await sessions()).toBe(before);
  return refused;
}

describe('a log-in with the issuer', () => {
  test('opens a session of the member at the page that was wanted', async () => {
    const { email, id } = await makeMember(db(), idOf(tenant));
    const shown = await getPage(app, '/console/login?next=/console/ledger');
    expect(shown.text).toContain('Log in with <bdi>Example ID</bdi>');
    const answer = await logIn(verified(email), '/console/ledger?kind=usage');
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console/ledger?kind=usage']);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^boxoffice=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/),
      'boxoffice-login=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
    ]);
    const cookie = cookiesOf(answer)[COOKIE]!;
    expect((await getPage(app, '/console/keys', cookie)).text).toContain('Create');
    const { rows } = await db().query(
      `select s.proof, s.created_at > now() - interval '10 minutes' as fresh, m.joined_at
         from console_sessions s join members m on m.id = s.member_id where m.id = $1 and s.proof = 'oidc'`,
      [id],
    );
    expect(rows).toEqual([{ proof: 'oidc', fresh: true, joined_at: expect.any(Date) }]);
  });

  test('binds the attempt to the browser with a cookie of ten minutes, and tells the issuer nothing else', async () => {
    const { url, answer } = await begin(app);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^boxoffice-login=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/),
    ]);
    expect(answer.headers.get('content-security-policy')).toContain("form-action 'self';");
    const query = Object.fromEntries(new URL(url).searchParams);
    expect(query).toEqual({
      client_id: 'boxoffice',
      response_type: 'code',
      redirect_uri: 'http://service.test/console/login/oidc/callback',
      scope: 'openid email',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    expect(new Set([query.state, query.nonce, query.code_challenge]).size).toBe(3);
  });

  test('ends the session that the browser had', async () => {
    const { email, cookie: before } = await makeMember(db(), idOf(tenant));
    const { url, cookie } = await begin(app);
    const answer = await comeBack(app, issuer.logIn(url, verified(email)), `${cookie}; ${before}`);
    expect(answer.status).toBe(303);
    expect((await getPage(app, '/console', before)).status).toBe(303);
  });

  test('compares the address in lower case', async () => {
    const { email } = await makeMember(db(), idOf(tenant));
    expect((await logIn(verified(email.toUpperCase()))).status).toBe(303);
  });

  test('reaches every tenant of the address, and a move is no log-in', async () => {
    const email = 'oidc-two-tenants@example.com';
    const other = await app.paidTenant();
    await makeMember(db(), idOf(tenant), { email });
    await makeMember(db(), idOf(other), { email, role: 'viewer' });
    const cookie = cookiesOf(await logIn(verified(email)))[COOKIE]!;
    const shown = await getPage(app, '/console/tenants', cookie);
    expect(shown.text).toContain(tenant.id);
    expect(shown.text).toContain(other.id);
    const to = shown.text.includes(`value="${tenant.id}"`) ? tenant : other;
    const moved = await sendForm(app, '/console/tenants', { tenant: to.id }, { cookie });
    expect(moved.status).toBe(303);
    const { rows } = await db().query(
      `select distinct s.proof from console_sessions s join members m on m.id = s.member_id
        where m.email = $1 and s.tenant_id = $2 and s.proof <> 'mail'`,
      [email, idOf(to)],
    );
    expect(rows).toEqual([{ proof: 'oidc' }]);
  });

  test('is begun at one service and finished at another', async () => {
    const { email } = await makeMember(db(), idOf(tenant));
    const { url, cookie } = await begin(app);
    const other = await app.another();
    const back = issuer.logIn(url, verified(email));
    const path = `${back.pathname}${back.search}`;
    const answer = await ask(`${other.url}${path}`, 'GET', { headers: { cookie } });
    expect(answer.status).toBe(303);
    const session = cookiesOf(answer)[COOKIE]!;
    expect((await getPage(app, '/console', session)).status).toBe(200);
    await expectRefused(getPage(app, path, cookie), 400, 'This log-in cannot be finished');
  });

  test('asks the issuer for the address if the token does not tell it', async () => {
    const { email } = await makeMember(db(), idOf(tenant));
    issuer.spoiled = { onlyInfo: true };
    expect((await logIn(verified(email))).status).toBe(303);
  });

  test('sends the secret of the client as the issuer takes it', async () => {
    const { email } = await makeMember(db(), idOf(tenant));
    issuer.methods.push('client_secret_post');
    const other = await app.another();
    const begun = attemptOf(
      await ask(`${other.url}/console/login/oidc`, 'POST', {
        raw: 'next=/console',
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://service.test' },
      }),
    );
    const back = issuer.logIn(begun.url, verified(email));
    const answer = await ask(`${other.url}${back.pathname}${back.search}`, 'GET', {
      headers: { cookie: begun.cookie },
    });
    expect(answer.status).toBe(303);
  });
});

describe('an answer that was not asked for', () => {
  const STALE = [400, 'This log-in cannot be finished'] as const;

  test('with a forged state is refused, and the true one still logs in', async () => {
    const { email } = await makeMember(db(), idOf(tenant));
    const { url, cookie } = await begin(app);
    const back = issuer.logIn(url, verified(email));
    for (const state of ['', 'x', 'A'.repeat(43), `${back.searchParams.get('state')}x`]) {
      const forged = new URL(back);
      forged.searchParams.set('state', state);
      const answer = await expectRefused(comeBack(app, forged, cookie), ...STALE);
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    expect((await comeBack(app, back, cookie)).status).toBe(303);
  });

  test('of the log-in of somebody else is refused', async () => {
    const attacker = await begin(app);
    const { email } = await makeMember(db(), idOf(tenant));
    const back = issuer.logIn(attacker.url, verified(email));
    const victim = await begin(app);
    await expectRefused(comeBack(app, back, victim.cookie), ...STALE);
    await expectRefused(comeBack(app, back, ''), ...STALE);
    expect((await comeBack(app, back, attacker.cookie)).status).toBe(303);
  });

  test('works once, also for twenty at the same time', async () => {
    const { email } = await makeMember(db(), idOf(tenant));
    const { url, cookie } = await begin(app);
    const back = issuer.logIn(url, verified(email));
    const answers = await Promise.all(Array.from({ length: 20 }, () => comeBack(app, back, cookie)));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      303,
      ...Array.from({ length: 19 }, () => 400),
    ]);
    await expectRefused(comeBack(app, back, cookie), ...STALE);
  });

  test('more than ten minutes later is refused, and its attempt is deleted', async () => {
    const { email } = await makeMember(db(), idOf(tenant));
    const { url, cookie } = await begin(app);
    await db().query(`update login_attempts set begun_at = begun_at - interval '10 minutes'`);
    await expectRefused(comeBack(app, issuer.logIn(url, verified(email)), cookie), ...STALE);
    await sweep(app.service.deps);
    const { rows } = await db().query('select count(*)::int as n from login_attempts');
    expect(rows).toEqual([{ n: 0 }]);
  });

  test('with a code of another attempt is refused', async () => {
    const { email } = await makeMember(db(), idOf(tenant));
    const stolen = issuer.logIn((await begin(app)).url, verified(email));
    const own = await begin(app);
    const back = issuer.logIn(own.url, verified('attacker@example.com'));
    back.searchParams.set('code', stolen.searchParams.get('code')!);
    await expectRefused(comeBack(app, back, own.cookie), 502, 'The answer of Example ID is not valid');
  });

  test('of an attempt of the operators is refused', async () => {
    const { email } = await makeMember(db(), idOf(tenant));
    const { url, cookie } = await begin(app);
    await db().query(`update login_attempts set console = 'operators'`);
    await expectRefused(comeBack(app, issuer.logIn(url, verified(email)), cookie), ...STALE);
  });
});

describe('what the issuer says is checked:', () => {
  const soon = () => Math.floor(Date.now() / 1000);
  const INVALID = 'The answer of Example ID is not valid';
  const CASES: Readonly<Record<string, () => Spoiled>> = {
    'another nonce': () => ({ claims: { nonce: 'A'.repeat(43) } }),
    'no nonce': () => ({ claims: { nonce: undefined } }),
    'another audience': () => ({ claims: { aud: 'other-client' } }),
    'several audiences, and another party': () => ({ claims: { aud: ['boxoffice', 'other'], azp: 'other' } }),
    'another issuer': () => ({ claims: { iss: 'https://other.example' } }),
    'an expired token': () => ({ claims: { exp: soon() - 60 } }),
    'a token without an end': () => ({ claims: { exp: undefined } }),
    'a token that is not valid yet': () => ({ claims: { nbf: soon() + 600 } }),
    'an unsigned token': () => ({ key: 'none' }),
    'a token that is signed with the secret of the client': () => ({ key: 'secret' }),
    'a token that is signed with another key': () => ({ key: 'wrong' }),
    'an address of another subject': () => ({ onlyInfo: true, infoSubject: 'person-2' }),
  };

  test.each(Object.keys(CASES))('%s', async (what) => {
    const { email } = await makeMember(db(), idOf(tenant));
    issuer.spoiled = CASES[what]!();
    const refused = await expectRefused(logIn(verified(email)), 502, INVALID);
    expect(cookiesOf(refused)[LOGIN_COOKIE]).toBe('');
  });

  test.each([
    ['no address', { email_verified: true }],
    ['an address that is not verified', { email: 'a@example.com', email_verified: false }],
    ['an address that may be verified', { email: 'a@example.com' }],
    ['an address that is verified in words', { email: 'a@example.com', email_verified: 'true' }],
    ['two addresses', { email: ['a@example.com', 'b@example.com'], email_verified: true }],
    ['what is no address', { email: 'a@example.com\nb', email_verified: true }],
  ])('%s', async (_what, claims) => {
    await makeMember(db(), idOf(await app.paidTenant()), { email: 'a@example.com' });
    await expectRefused(logIn(claims), 403, 'Example ID has not verified your address');
  });

  test('an address that is told and verified in different answers', async () => {
    const { email } = await makeMember(db(), idOf(tenant));
    issuer.spoiled = { onlyInfo: true, claims: { email } };
    await expectRefused(logIn(verified('attacker@example.com')), 403, 'This address is not that of a member');
  });

  test('a person who says no', async () => {
    const { url, cookie } = await begin(app);
    const back = issuer.refuse(url);
    await expectRefused(comeBack(app, back, cookie), 403, 'You did not log in with Example ID');
  });
});

describe('a person', () => {
  test('who is no member is told so, and not created', async () => {
    const refused = await expectRefused(
      logIn(verified('stranger@example.com')),
      403,
      'This address is not that of a member',
    );
    expect(refused.text).toContain('stranger@example.com');
    const { rows } = await db().query(`select from members where email = 'stranger@example.com'`);
    expect(rows).toEqual([]);
  });

  test('who was removed in between is a stranger', async () => {
    const { email, id } = await makeMember(db(), idOf(tenant));
    const { url, cookie } = await begin(app);
    const back = issuer.logIn(url, verified(email));
    await db().query('delete from members where id = $1', [id]);
    await expectRefused(comeBack(app, back, cookie), 403, 'This address is not that of a member');
  });

  test('who is removed later is logged out at once', async () => {
    const { email, id } = await makeMember(db(), idOf(tenant));
    const cookie = cookiesOf(await logIn(verified(email)))[COOKIE]!;
    expect((await getPage(app, '/console', cookie)).status).toBe(200);
    await db().query('delete from members where id = $1', [id]);
    expect((await getPage(app, '/console', cookie)).status).toBe(303);
  });

  test('whose only tenant is suspended is told so', async () => {
    const other = await app.paidTenant();
    const { email } = await makeMember(db(), idOf(other));
    await changeStatus(db(), { kind: 'operator', id: 'test' }, idOf(other), 'suspended', 'test');
    const cookie = cookiesOf(await logIn(verified(email)))[COOKIE]!;
    const { status, text } = await getPage(app, '/console', cookie);
    expect([status, text.includes('is suspended')]).toEqual([403, true]);
    await makeMember(db(), idOf(tenant), { email });
    expect((await logIn(verified(email))).status).toBe(303);
  });
});

describe('an issuer that is', () => {
  const DOWN = [502, 'Example ID does not answer'] as const;
  const MOODS: readonly IssuerMood[] = ['down', 'garbage', 'foreign', 'empty'];

  test.each(MOODS)('%s: a new service says so, and the mail stays', async (mood) => {
    issuer.mood = mood;
    const { url } = await app.another();
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://service.test' };
    const press = () => ask(`${url}/console/login/oidc`, 'POST', { raw: 'next=/console', headers });
    const refused = await expectRefused(press(), ...DOWN);
    expect(refused.text).toContain('or by mail');
    expect((await ask(`${url}/console/login`, 'GET')).text).toContain('Send a link');
    issuer.mood = 'well';
    expect((await press()).status).toBe(200);
  });

  test.each(['down', 'garbage'] as const)('%s when the person comes back', async (mood) => {
    const { email } = await makeMember(db(), idOf(tenant));
    issuer.tokenMood = mood;
    await expectRefused(logIn(verified(email)), ...DOWN);
  });
});

describe('a log-in again', () => {
  const again = async (cookie: string, next = '/console/keys') =>
    attemptOf(await sendForm(app, '/console/confirm/oidc', { next }, { cookie }));
  const now = () => Math.floor(Date.now() / 1000);

  test('asks the issuer for one, and goes on in the same tenant', async () => {
    const email = 'again@example.com';
    const { cookie } = await makeMember(db(), idOf(tenant), { email, minutesAgo: 11 });
    await makeMember(db(), idOf(await app.paidTenant()), { email });
    expect((await getPage(app, '/console/confirm', cookie)).text).toContain('Log in again with');
    const begun = await again(cookie);
    const query = new URL(begun.url).searchParams;
    expect([query.get('prompt'), query.get('max_age'), query.get('login_hint')]).toEqual([
      'login',
      '0',
      email,
    ]);
    const back = issuer.logIn(begun.url, verified(email));
    const answer = await comeBack(app, back, `${cookie}; ${begun.cookie}`);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console/keys']);
    const fresh = cookiesOf(answer)[COOKIE]!;
    expect((await getPage(app, '/console/tenants', fresh)).text).toContain(`<p><code>${tenant.id}</code>`);
    expect((await getPage(app, '/console/confirm?next=/console/keys', fresh)).status).toBe(303);
    expect((await getPage(app, '/console', cookie)).status).toBe(303);
  });

  test.each([
    ['an older log-in', () => ({ auth_time: now() - 3_600 })],
    ['no time of the log-in', () => ({ auth_time: undefined })],
  ])('is none with %s', async (_what, more) => {
    const { email, cookie } = await makeMember(db(), idOf(tenant), { minutesAgo: 11 });
    const begun = await again(cookie);
    const back = issuer.logIn(begun.url, verified(email, more()));
    await expectRefused(
      comeBack(app, back, `${cookie}; ${begun.cookie}`),
      403,
      'Example ID did not ask you to log in again',
    );
    expect((await getPage(app, '/console/confirm', cookie)).status).toBe(200);
  });

  test('may be 30 seconds older than the question: clocks differ', async () => {
    const { email, cookie } = await makeMember(db(), idOf(tenant), { minutesAgo: 11 });
    const comeBackOlder = async (seconds: number) => {
      const begun = await again(cookie);
      const { rows } = await db().query(
        `update login_attempts set begun_at = date_trunc('second', begun_at) + interval '500 ms' where email = $1
         returning extract(epoch from begun_at)::double precision as at`,
        [email],
      );
      const more = { auth_time: Math.floor(rows[0].at) - seconds };
      return comeBack(app, issuer.logIn(begun.url, verified(email, more)), `${cookie}; ${begun.cookie}`);
    };
    expect([(await comeBackOlder(30)).status, (await comeBackOlder(29)).status]).toEqual([403, 303]);
  });

  test('is none of somebody else', async () => {
    const { cookie } = await makeMember(db(), idOf(tenant), { minutesAgo: 11 });
    const { email } = await makeMember(db(), idOf(tenant));
    const begun = await again(cookie);
    const back = issuer.logIn(begun.url, verified(email));
    await expectRefused(
      comeBack(app, back, `${cookie}; ${begun.cookie}`),
      403,
      'You logged in as another person',
    );
  });

  test('is not offered to a session that is no person’s', async () => {
    const { json } = await ask(`${app.url}/console/session`, 'POST', {
      headers: { authorization: `Bearer ${tenant.key}` },
    });
    const opened = await sendForm(app, new URL(json.url).pathname, {});
    const cookie = cookiesOf(opened)[COOKIE]!;
    await db().query(`update console_sessions set created_at = created_at - interval '11 minutes'`);
    expect((await getPage(app, '/console/confirm', cookie)).text).not.toContain('Example ID');
    const answer = await sendForm(app, '/console/confirm/oidc', { next: '/console' }, { cookie });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console/confirm']);
  });
});

describe('limits of a client:', () => {
  const from = (at: number) => ({ headers: { 'x-forwarded-for': `192.0.2.${at}` } });

  test('so many log-ins a minute', async () => {
    const statuses: number[] = [];
    for (let at = 0; at <= ATTEMPTS_PER_MINUTE; at += 1) {
      statuses.push((await sendForm(app, '/console/login/oidc', {}, from(1))).status);
    }
    expect(statuses).toEqual([...Array.from({ length: ATTEMPTS_PER_MINUTE }, () => 200), 429]);
  });

  test('so many forged answers a minute', async () => {
    const statuses: number[] = [];
    for (let at = 0; at <= WRONG_LINKS_PER_MINUTE; at += 1) {
      const answer = await ask(`${app.url}/console/login/oidc/callback?code=x&state=x`, 'GET', from(2));
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([...Array.from({ length: WRONG_LINKS_PER_MINUTE }, () => 400), 429]);
  });
});

test('no secret is in the log, and none in the database', async () => {
  const { email } = await makeMember(db(), idOf(tenant));
  const { url, cookie } = await begin(app);
  issuer.spoiled = { key: 'wrong' };
  await comeBack(app, issuer.logIn(url, verified(email)), cookie);
  await begin(app);
  const { rows } = await db().query(`select string_agg(t::text, ' ') as all from (
      select to_jsonb(a) as t from login_attempts a union all select to_jsonb(s) from console_sessions s) every (t)`);
  expect(logged).toContain('a log-in at the issuer failed');
  const secrets = [...issuer.secrets, cookie.split('=')[1]!].filter((each) => each !== '');
  expect(secrets.length).toBeGreaterThan(20);
  for (const secret of secrets) {
    expect(logged).not.toContain(secret);
    expect(rows[0].all).not.toContain(secret);
  }
});
