/** Passkeys over forms, with an authenticator in software that can lie. */
import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import pino from 'pino';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  PASSKEY_REQUESTS_PER_MINUTE,
  WRONG_PASSKEYS_PER_MINUTE,
} from '../../../src/access/logins/login-limit.ts';
import { PASSKEYS_MAX } from '../../../src/access/passkeys/passkey.ts';
import { changeStatus } from '../../../src/money/tenant-status/change-status.ts';
import { sweep } from '../../../src/run/sweep.ts';
import { type Algorithm, Authenticator, type Lie } from '../../support/authenticator.ts';
import { LOCAL_URL } from '../../support/browser.ts';
import { cookieOf, getPage, makeMember, sendForm, type TestMember } from '../../support/console.ts';
import { type Answer, ask, type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

/** Why passkeys were refused, as the log says it. */
const reasons: string[] = [];
const stream = new Writable({
  write: (chunk, _encoding, done) => {
    const { reason } = JSON.parse(String(chunk));
    if (reason !== undefined) reasons.push(reason);
    done();
  },
});
const app = useService({ publicUrl: LOCAL_URL, isRestricted: true, log: pino({ level: 'info' }, stream) });
const OPERATOR = { kind: 'operator', id: 'test' } as const;
let tenant: TestTenant;
const db = () => app.service.deps.db;

beforeAll(async () => {
  tenant = await app.paidTenant();
});

let clients = 0;
/** A client that tried nothing so far. */
function client(): Record<string, string> {
  clients += 1;
  return { 'x-forwarded-for': `203.0.${Math.floor(clients / 250)}.${clients % 250}` };
}

const post = (path: string, fields: Record<string, string>, cookie = '', headers = client()) =>
  sendForm(app, path, fields, { cookie, headers });

async function optionsOf(path: string, cookie = '') {
  const answer = await post(`/console/passkeys${path}/options`, {}, cookie);
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
}

/** Make a passkey, and send it. */
async function add(
  { cookie }: { cookie: string },
  authenticator: Authenticator,
  { name = 'laptop', lie }: { name?: string; lie?: Lie } = {},
): Promise<Answer> {
  const options = await optionsOf('', cookie);
  return post('/console/passkeys', { name, answer: authenticator.make(options, lie) }, cookie);
}

async function addedTo(member: { cookie: string }, algorithm?: Algorithm): Promise<Authenticator> {
  const authenticator = new Authenticator(LOCAL_URL, algorithm);
  const answer = await add(member, authenticator);
  expect([answer.status, answer.headers.get('location')], answer.text).toEqual([303, '/console/passkeys']);
  return authenticator;
}

async function logIn(authenticator: Authenticator, lie?: Lie, next = '/console'): Promise<Answer> {
  const answer = authenticator.sign(await optionsOf('/login'), lie);
  return post('/console/passkeys/login', { answer, next });
}

async function expectRefused(answer: Answer): Promise<void> {
  expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null]);
  expect(answer.text).toContain('This passkey did not log you in');
}

async function loggedIn(authenticator: Authenticator): Promise<string> {
  const answer = await logIn(authenticator);
  expect(answer.status, answer.text).toBe(303);
  return cookieOf(answer);
}

async function isLoggedIn(cookie: string, url = app.url): Promise<boolean> {
  return (await ask(`${url}/console`, 'GET', { headers: { cookie } })).status === 200;
}

async function passkeysOf({ email }: TestMember) {
  const { rows } = await db().query('select * from passkeys where email = $1 order by created_at', [email]);
  return rows;
}

describe('a passkey', () => {
  test.each(['ES256', 'EdDSA', 'RS256'] as const)('of %s is added, and logs in', async (algorithm) => {
    const member = await makeMember(db(), idOf(tenant), { role: 'finance' });
    const authenticator = await addedTo(member, algorithm);
    const answer = await logIn(authenticator, undefined, '/console/ledger?kind=usage');
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console/ledger?kind=usage']);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^boxoffice=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/,
    );
    expect((await getPage(app, '/console', cookieOf(answer))).text).toContain('<span>finance</span>');
    const [row] = await passkeysOf(member);
    expect(row).toMatchObject({ name: 'laptop', counter: 1n, transports: ['internal'], backed_up: false });
    expect(row.last_used_at).toBeInstanceOf(Date);
    const { rows } = await db().query(
      `select proof, created_at > now() - interval '1 minute' as fresh from console_sessions where passkey_id = $1`,
      [row.id],
    );
    expect(rows).toEqual([{ proof: 'passkey', fresh: true }]);
  });

  test('that its authenticator attests by itself is added', async () => {
    const member = await makeMember(db(), idOf(tenant));
    const lie = { attestation: { format: 'packed' } };
    const answer = await add(member, new Authenticator(LOCAL_URL), { lie });
    expect(answer.status, answer.text).toBe(303);
  });

  test('that counts nothing logs in again and again', async () => {
    const member = await makeMember(db(), idOf(tenant));
    const authenticator = new Authenticator(LOCAL_URL, 'ES256', { isCounting: false });
    await add(member, authenticator);
    for (const _ of [1, 2]) expect((await logIn(authenticator)).status).toBe(303);
  });

  test('is asked for with what the server will verify, and tells the authenticator nothing about the person', async () => {
    const member = await makeMember(db(), idOf(tenant));
    const options = await optionsOf('', member.cookie);
    expect(options).toMatchObject({
      rp: { id: 'localhost' },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    expect(options.pubKeyCredParams.map(({ alg }: { alg: number }) => alg)).toEqual([-8, -7, -257]);
    expect(Buffer.from(options.user.id, 'base64url')).toHaveLength(32);
    const authenticator = await addedTo(member);
    const again = await optionsOf('', member.cookie);
    expect(again.user.id).toBe(options.user.id);
    expect(again.excludeCredentials.map(({ id }: { id: string }) => id)).toEqual([authenticator.id]);
    expect(await optionsOf('/login')).toMatchObject({
      rpId: 'localhost',
      userVerification: 'required',
      allowCredentials: [],
    });
  });

  test('is in the audit trail, with the member', async () => {
    const of = await app.paidTenant();
    const member = await makeMember(db(), idOf(of));
    await addedTo(member);
    const [{ id }] = await passkeysOf(member);
    expect((await post(`/console/passkeys/${id}/remove`, {}, member.cookie)).status).toBe(303);
    const { json } = await app.request('GET', '/v1/audit?limit=2', { key: of.key });
    const actor = { kind: 'member', id: member.id };
    expect(json.entries).toMatchObject([
      { action: 'passkey_removed', subject: id, actor, before: { name: 'laptop' } },
      { action: 'passkey_added', subject: id, actor, after: { name: 'laptop' } },
    ]);
  });
});

/** What is wrong, and the reason that the log gives. */
type Lies = Readonly<Record<string, readonly [Lie, RegExp]>>;

describe('a new passkey is refused', () => {
  const LIES: Lies = {
    'of a page of another site': [{ origin: 'https://evil.example' }, /response origin/],
    'of another port': [{ origin: `${LOCAL_URL}:81` }, /response origin/],
    'over another scheme': [{ origin: 'https://localhost' }, /response origin/],
    'of another relying party': [{ party: 'evil.example' }, /RP ID/],
    'that is the answer of a log-in': [{ type: 'webauthn.get' }, /response type/],
    'without a person': [{ isPresent: false }, /present/],
    'without a check of the person': [{ isVerified: false }, /could not be verified/],
    'in a frame of another site': [{ crossOrigin: true }, /cannot be read/],
    'with a challenge of its own': [{ challenge: randomBytes(32).toString('base64url') }, /the challenge/],
    'with a challenge that is none': [{ challenge: 'none' }, /the challenge/],
    'under another id': [{ id: randomBytes(32).toString('base64url') }, /the id is not/],
    'with a certificate': [
      { attestation: { format: 'packed', certificate: randomBytes(300) } },
      /came with a certificate/,
    ],
    'with an attestation that may need one': [{ attestation: { format: 'tpm' } }, /came with a certificate/],
  };

  test.each(Object.entries(LIES))('%s', async (_what, [lie, reason]) => {
    const member = await makeMember(db(), idOf(tenant));
    const answer = await add(member, new Authenticator(LOCAL_URL), { lie });
    expect([answer.status, answer.text.includes('The passkey was not added')]).toEqual([400, true]);
    expect(reasons.at(-1)).toMatch(reason);
    expect(await passkeysOf(member)).toEqual([]);
  });

  test('of another algorithm', async () => {
    const member = await makeMember(db(), idOf(tenant));
    expect((await add(member, new Authenticator(LOCAL_URL, 'ES384'))).status).toBe(400);
    expect(reasons.at(-1)).toMatch(/public key alg/);
    expect(await passkeysOf(member)).toEqual([]);
  });

  test.each([
    '',
    '{}',
    '[]',
    'null',
    '{"response":{}}',
    'x'.repeat(60_000),
    `{"id":"AA","rawId":"AA","type":"public-key","response":{"clientDataJSON":"e30","attestationObject":"e30"}}`,
  ])('that is no answer: %.60s', async (answer) => {
    const member = await makeMember(db(), idOf(tenant));
    const sent = await post('/console/passkeys', { name: 'x', answer }, member.cookie);
    expect(sent.status).toBe(400);
    await expectRefused(await post('/console/passkeys/login', { answer }));
  });

  test('that is known, whoever has it', async () => {
    const [one, other] = [await makeMember(db(), idOf(tenant)), await makeMember(db(), idOf(tenant))];
    const authenticator = await addedTo(one);
    expect((await add(other, authenticator)).status).toBe(400);
    expect(await passkeysOf(other)).toEqual([]);
  });

  test('for the challenge of another session, of a log-in, or of a confirmation', async () => {
    const [one, other] = [await makeMember(db(), idOf(tenant)), await makeMember(db(), idOf(tenant))];
    const own = await optionsOf('', one.cookie);
    for (const path of ['', '/login', '/confirm']) {
      const { challenge } = await optionsOf(path, other.cookie);
      const answer = new Authenticator(LOCAL_URL).make({ ...own, challenge });
      expect((await post('/console/passkeys', { name: 'x', answer }, one.cookie)).status).toBe(400);
    }
    expect([await passkeysOf(one), await passkeysOf(other)]).toEqual([[], []]);
  });

  test('with a challenge that was used, though nothing came of it', async () => {
    const member = await makeMember(db(), idOf(tenant));
    const options = await optionsOf('', member.cookie);
    const authenticator = new Authenticator(LOCAL_URL);
    const send = (lie?: Lie) =>
      post('/console/passkeys', { name: 'x', answer: authenticator.make(options, lie) }, member.cookie);
    expect((await send({ isVerified: false })).status).toBe(400);
    expect((await send()).status).toBe(400);
  });

  test('after five minutes', async () => {
    const member = await makeMember(db(), idOf(tenant));
    const options = await optionsOf('', member.cookie);
    await db().query(`update passkey_challenges set expires_at = expires_at - interval '5 minutes'`);
    const answer = new Authenticator(LOCAL_URL).make(options);
    expect((await post('/console/passkeys', { name: 'x', answer }, member.cookie)).status).toBe(400);
  });

  test('without a name, and the page keeps what was typed', async () => {
    const member = await makeMember(db(), idOf(tenant));
    for (const name of ['', '  ', 'a\nb', 'a'.repeat(101)]) {
      const answer = await add(member, new Authenticator(LOCAL_URL), { name });
      expect([answer.status, answer.text.includes('id="name-fault"')]).toEqual([400, true]);
    }
    expect(await passkeysOf(member)).toEqual([]);
  });

  test('beyond twenty of one address, also when twenty are sent at once', async () => {
    const member = await makeMember(db(), idOf(tenant));
    await addedTo(member);
    await db().query(
      `insert into passkeys (id, email, credential, public_key, counter, transports, name, backed_up)
       select 'pk_' || md5($1 || n), $1, convert_to($1 || n, 'UTF8'), '\\x00', 0, '{}', 'many', false
         from generate_series(1, $2) n`,
      [member.email, PASSKEYS_MAX - 3],
    );
    const offers = await Promise.all(Array.from({ length: 20 }, () => optionsOf('', member.cookie)));
    const answers = await Promise.all(
      offers.map((options) =>
        post(
          '/console/passkeys',
          { name: 'x', answer: new Authenticator(LOCAL_URL).make(options) },
          member.cookie,
        ),
      ),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(2);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(18);
    expect(await passkeysOf(member)).toHaveLength(PASSKEYS_MAX);
    const offer = await post('/console/passkeys/options', {}, member.cookie);
    expect([offer.status, offer.text.includes(`at most ${PASSKEYS_MAX} passkeys`)]).toEqual([409, true]);
  });
});

describe('a log-in by passkey is refused', () => {
  const LIES: Lies = {
    'of a page of another site': [{ origin: 'https://evil.example' }, /response origin/],
    'of another port': [{ origin: `${LOCAL_URL}:81` }, /response origin/],
    'of another relying party': [{ party: 'evil.example' }, /RP ID/],
    'that is the answer of an addition': [{ type: 'webauthn.create' }, /response type/],
    'without a person': [{ isPresent: false }, /present/],
    'without a check of the person': [{ isVerified: false }, /could not be verified/],
    'in a frame of another site': [{ crossOrigin: true }, /cannot be read/],
    'with a challenge of its own': [{ challenge: randomBytes(32).toString('base64url') }, /the challenge/],
    'with a forged signature': [{ isForged: true }, /signature/],
    'of another person': [{ handle: randomBytes(32).toString('base64url') }, /of another person/],
    'that does not say whose it is': [{ handle: '' }, /whose it is/],
    'that nobody has': [{ id: randomBytes(32).toString('base64url') }, /not known/],
    'with a counter that stands still': [{ counter: 1 }, /went back/],
    'with a counter that went back to nothing': [{ counter: 0 }, /went back/],
  };

  test.each(Object.entries(LIES))('%s', async (_what, [lie, reason]) => {
    const authenticator = await addedTo(await makeMember(db(), idOf(tenant)));
    await loggedIn(authenticator);
    await expectRefused(await logIn(authenticator, lie));
    expect(reasons.at(-1)).toMatch(reason);
    await loggedIn(authenticator);
  });

  test('with the key of another passkey', async () => {
    const [one, other] = await Promise.all(
      [1, 2].map(async () => addedTo(await makeMember(db(), idOf(tenant)))),
    );
    await expectRefused(await logIn(one!, { id: other!.id, handle: other!.handle }));
    expect(reasons.at(-1)).toMatch(/signature/);
  });

  test('with a challenge that was used, of twenty at the same time all but one', async () => {
    const authenticator = await addedTo(await makeMember(db(), idOf(tenant)));
    const options = await optionsOf('/login');
    const sent = Array.from({ length: 20 }, () => authenticator.sign(options));
    const answers = await Promise.all(sent.map((answer) => post('/console/passkeys/login', { answer })));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      303,
      ...Array.from({ length: 19 }, () => 403),
    ]);
    await expectRefused(await post('/console/passkeys/login', { answer: authenticator.sign(options) }));
  });

  test('of twenty copies with the same counter at the same time, all but one', async () => {
    const authenticator = await addedTo(await makeMember(db(), idOf(tenant)));
    const offers = await Promise.all(Array.from({ length: 20 }, () => optionsOf('/login')));
    const sent = offers.map((options) => authenticator.sign(options, { counter: 5 }));
    const answers = await Promise.all(sent.map((answer) => post('/console/passkeys/login', { answer })));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  });

  test('with a challenge that was used up by a wrong answer, is too old, or was for something else', async () => {
    const member = await makeMember(db(), idOf(tenant));
    const authenticator = await addedTo(member);
    const wrong = await optionsOf('/login');
    await expectRefused(
      await post('/console/passkeys/login', { answer: authenticator.sign(wrong, { isForged: true }) }),
    );
    await expectRefused(await post('/console/passkeys/login', { answer: authenticator.sign(wrong) }));
    const old = await optionsOf('/login');
    await db().query(`update passkey_challenges set expires_at = expires_at - interval '5 minutes'`);
    await expectRefused(await post('/console/passkeys/login', { answer: authenticator.sign(old) }));
    for (const path of ['', '/confirm']) {
      const { challenge } = await optionsOf(path, member.cookie);
      const answer = authenticator.sign({ rpId: 'localhost', challenge });
      await expectRefused(await post('/console/passkeys/login', { answer }, member.cookie));
    }
  });

  test('of a passkey that was removed', async () => {
    const member = await makeMember(db(), idOf(tenant));
    const authenticator = await addedTo(member);
    const [{ id }] = await passkeysOf(member);
    await post(`/console/passkeys/${id}/remove`, {}, member.cookie);
    await expectRefused(await logIn(authenticator));
  });

  test.each(['suspended', 'archived'] as const)(
    'of a tenant that is %s opens nothing but the page that says so',
    async (status) => {
      const of = await app.paidTenant();
      const authenticator = await addedTo(await makeMember(db(), idOf(of)));
      await changeStatus(db(), OPERATOR, idOf(of), status, 'test');
      const answer = await logIn(authenticator);
      const shown = await getPage(app, '/console', cookieOf(answer));
      expect([answer.status, shown.status, shown.text.includes(`is ${status}`)]).toEqual([303, 403, true]);
    },
  );

  test('of a tenant that is deleted', async () => {
    const of = await app.paidTenant();
    const authenticator = await addedTo(await makeMember(db(), idOf(of)));
    await changeStatus(db(), OPERATOR, idOf(of), 'deleted', 'test');
    await expectRefused(await logIn(authenticator));
    const { rows } = await db().query(
      'select from console_sessions where tenant_id = $1 and passkey_id is not null',
      [idOf(of)],
    );
    expect(rows).toEqual([]);
  });

  test('so often a minute for one client, and challenges too', async () => {
    const from = client();
    const statuses: number[] = [];
    for (let at = 0; at <= WRONG_PASSKEYS_PER_MINUTE; at += 1) {
      statuses.push((await post('/console/passkeys/login', { answer: '{}' }, '', from)).status);
    }
    expect(statuses).toEqual([...Array.from({ length: WRONG_PASSKEYS_PER_MINUTE }, () => 403), 429]);
    const offers: number[] = [];
    for (let at = 0; at <= PASSKEY_REQUESTS_PER_MINUTE; at += 1) {
      offers.push((await post('/console/passkeys/login/options', {}, '', from)).status);
    }
    expect(offers).toEqual([...Array.from({ length: PASSKEY_REQUESTS_PER_MINUTE }, () => 200), 429]);
  });
});

describe('a session by passkey', () => {
  test('reaches every tenant of the address that works, and no other one', async () => {
    const [first, second, stranger] = [
      await app.paidTenant(),
      await app.paidTenant(),
      await app.paidTenant(),
    ];
    const email = 'several-tenants@example.com';
    const member = await makeMember(db(), idOf(first), { email });
    await makeMember(db(), idOf(second), { email, role: 'viewer' });
    const authenticator = await addedTo(member);
    await changeStatus(db(), OPERATOR, idOf(second), 'suspended', 'test');
    const cookie = await loggedIn(authenticator);
    expect((await getPage(app, '/console/tenants', cookie)).text).toContain(`<code>${first.id}</code>`);
    await changeStatus(db(), OPERATOR, idOf(second), 'active', 'test');
    const move = (to: TestTenant, by: string) => post('/console/tenants', { tenant: to.id }, by);
    expect((await move(stranger, cookie)).status).toBe(404);
    const moved = cookieOf(await move(second, cookie));
    expect([await isLoggedIn(cookie), await isLoggedIn(moved)]).toEqual([false, true]);
    expect((await getPage(app, '/console/passkeys', moved)).text).toContain('this session');
  });

  test('adds passkeys while it is fresh, and no longer', async () => {
    const member = await makeMember(db(), idOf(tenant));
    const cookie = await loggedIn(await addedTo(member));
    await addedTo({ cookie });
    await db().query(`update console_sessions set created_at = created_at - interval '11 minutes'
                       where member_id = '${member.id}'`);
    for (const path of ['/console/passkeys/options', '/console/passkeys']) {
      expect((await post(path, {}, cookie)).headers.get('location')).toBe(
        '/console/confirm?next=%2Fconsole%2Fpasskeys',
      );
    }
    const { text } = await getPage(app, '/console/passkeys', cookie);
    expect([text.includes('log in again'), text.includes('data-passkey')]).toEqual([true, false]);
  });

  test('ends with the passkey, and others of the person go on', async () => {
    const member = await makeMember(db(), idOf(tenant));
    const cookie = await loggedIn(await addedTo(member));
    const [{ id }] = await passkeysOf(member);
    expect((await post(`/console/passkeys/${id}/remove`, {}, member.cookie)).status).toBe(303);
    expect([await isLoggedIn(cookie), await isLoggedIn(member.cookie)]).toEqual([false, true]);
  });

  test('ends with the member, at once and in every process', async () => {
    const other = await app.another();
    const owner = await makeMember(db(), idOf(tenant));
    const member = await makeMember(db(), idOf(tenant), { role: 'viewer' });
    const authenticator = await addedTo(member);
    const cookie = await loggedIn(authenticator);
    expect(await isLoggedIn(cookie, other.url)).toBe(true);
    await post(`/console/members/${member.id}/remove`, {}, owner.cookie);
    expect([await isLoggedIn(cookie), await isLoggedIn(cookie, other.url)]).toEqual([false, false]);
    expect(await passkeysOf(member)).toEqual([]);
    await expectRefused(await logIn(authenticator));
  });
});

describe('the passkeys of an address', () => {
  test('stay while it is a member somewhere, and do not come back with it', async () => {
    const [first, second] = [await app.paidTenant(), await app.paidTenant()];
    const email = 'leaves@example.com';
    const member = await makeMember(db(), idOf(first), { email, role: 'viewer' });
    const there = await makeMember(db(), idOf(second), { email, role: 'viewer' });
    const authenticator = await addedTo(member);
    const remove = async (of: TestTenant, id: string) => {
      const owner = await makeMember(db(), idOf(of));
      expect((await post(`/console/members/${id}/remove`, {}, owner.cookie)).status).toBe(303);
    };
    await remove(first, member.id);
    const cookie = await loggedIn(authenticator);
    expect((await getPage(app, '/console/tenants', cookie)).text).toContain(second.id);
    await remove(second, there.id);
    await makeMember(db(), idOf(first), { email });
    await expectRefused(await logIn(authenticator));
    expect((await db().query('select from passkey_holders where email = $1', [email])).rows).toEqual([]);
  });

  test('go, though two tenants remove the address at the same time', async () => {
    for (let round = 0; round < 5; round += 1) {
      const of = [await app.signUp(), await app.signUp()];
      const email = `twice-${round}@example.com`;
      const members = [];
      for (const each of of) {
        members.push(await makeMember(db(), idOf(each), { email, role: 'viewer' }));
      }
      await addedTo(members[0]!);
      const owners = await Promise.all(of.map((each) => makeMember(db(), idOf(each))));
      const removals = members.map(({ id }, at) =>
        post(`/console/members/${id}/remove`, {}, owners[at]!.cookie),
      );
      expect((await Promise.all(removals)).map(({ status }) => status)).toEqual([303, 303]);
      expect(await passkeysOf(members[0]!)).toEqual([]);
    }
  });

  test('are shown to, added and removed by nobody else', async () => {
    const [one, other] = [await makeMember(db(), idOf(tenant)), await makeMember(db(), idOf(tenant))];
    await add(one, new Authenticator(LOCAL_URL), { name: 'secret laptop' });
    const [{ id }] = await passkeysOf(one);
    expect((await getPage(app, '/console/passkeys', other.cookie)).text).not.toContain('secret laptop');
    expect((await post(`/console/passkeys/${id}/remove`, {}, other.cookie)).status).toBe(404);
    expect(await passkeysOf(one)).toHaveLength(1);
  });

  test('are not those of somebody who signed up with it, which proves nothing', async () => {
    const member = await makeMember(db(), idOf(tenant), { email: 'not-proved@example.com' });
    await add(member, new Authenticator(LOCAL_URL), { name: 'secret laptop' });
    const cookie = cookieOf(
      await post('/console/signup', { name: 'Pretender', email: 'not-proved@example.com' }),
    );
    const [{ id }] = await passkeysOf(member);
    const { text } = await getPage(app, '/console/passkeys', cookie);
    expect([text.includes('secret laptop'), text.includes('Log in by mail')]).toEqual([false, true]);
    for (const path of ['/options', `/${id}/remove`, '/confirm/options', '/confirm']) {
      expect((await post(`/console/passkeys${path}`, {}, cookie)).status).toBe(403);
    }
    const answer = new Authenticator(LOCAL_URL).make(await optionsOf('', member.cookie));
    expect((await post('/console/passkeys', { name: 'x', answer }, cookie)).status).toBe(403);
    expect(await passkeysOf(member)).toHaveLength(1);
  });

  test('are not those of a key', async () => {
    const { json } = await app.request('POST', '/console/session', { key: tenant.key, headers: client() });
    const cookie = cookieOf(await post(new URL(json.url).pathname, {}));
    expect((await getPage(app, '/console/passkeys', cookie)).text).toContain('Passkeys belong to people.');
    expect((await post('/console/passkeys/options', {}, cookie)).status).toBe(403);
  });
});

describe('a log-in to go on', () => {
  const confirm = (cookie: string, answer: string) =>
    post('/console/passkeys/confirm', { answer, next: '/console/keys' }, cookie);
  const makeOld = ({ id }: TestMember) =>
    db().query(
      `update console_sessions set created_at = created_at - interval '11 minutes' where member_id = $1`,
      [id],
    );

  test('is offered to who has a passkey, and replaces the session with a fresh one of the same tenant', async () => {
    const member = await makeMember(db(), idOf(tenant));
    const authenticator = await addedTo(member);
    await makeOld(member);
    expect((await getPage(app, '/console/confirm?next=/console/keys', member.cookie)).text).toContain(
      'Use a passkey',
    );
    const options = await optionsOf('/confirm', member.cookie);
    expect(options.allowCredentials.map(({ id }: { id: string }) => id)).toEqual([authenticator.id]);
    const answer = await confirm(member.cookie, authenticator.sign(options));
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console/keys']);
    expect([await isLoggedIn(member.cookie), await isLoggedIn(cookieOf(answer))]).toEqual([false, true]);
    expect((await getPage(app, '/console/keys', cookieOf(answer))).text).not.toContain('log in again');
    const none = await makeMember(db(), idOf(tenant), { minutesAgo: 11 });
    expect((await getPage(app, '/console/confirm', none.cookie)).text).not.toContain('Use a passkey');
  });

  test('is refused with the passkey of another member, and with the challenge of another session', async () => {
    const [one, other] = [await makeMember(db(), idOf(tenant)), await makeMember(db(), idOf(tenant))];
    const [own, foreign] = [await addedTo(one), await addedTo(other)];
    const answers = [
      foreign.sign(await optionsOf('/confirm', one.cookie)),
      own.sign(await optionsOf('/confirm', other.cookie)),
      own.sign(await optionsOf('/login')),
      own.sign(await optionsOf('/confirm', one.cookie), { isVerified: false }),
    ];
    for (const answer of answers) await expectRefused(await confirm(one.cookie, answer));
    const silent = own.sign(await optionsOf('/confirm', one.cookie), { handle: '' });
    expect((await confirm(one.cookie, silent)).status).toBe(303);
  });
});

describe('what is stored', () => {
  test('is no secret: neither of challenges nor of sessions', async () => {
    const member = await makeMember(db(), idOf(tenant));
    const { challenge } = await optionsOf('/login');
    const cookie = await loggedIn(await addedTo(member));
    const { rows } = await db().query(
      `select string_agg(t::text, ' ') as all from (select to_jsonb(c) as t from passkey_challenges c
         union all select to_jsonb(p) from passkeys p union all select to_jsonb(s) from console_sessions s) every (t)`,
    );
    const hex = Buffer.from(challenge, 'base64url').toString('hex');
    for (const text of [challenge, hex, cookie.split('=')[1]!]) expect(rows[0].all).not.toContain(text);
  });

  test('of challenges goes after their time, and with their session', async () => {
    const member = await makeMember(db(), idOf(tenant));
    const count = async (where: string) =>
      Number((await db().query(`select count(*) from passkey_challenges where ${where}`)).rows[0].count);
    await optionsOf('', member.cookie);
    expect(await count('session is not null')).toBeGreaterThan(0);
    await optionsOf('/login');
    await db().query(`update passkey_challenges set expires_at = now() where purpose = 'log_in'`);
    await sweep(app.service.deps);
    expect(await count(`purpose = 'log_in'`)).toBe(0);
    const before = await count('true');
    await post('/console/logout', {}, member.cookie);
    expect(await count('true')).toBe(before - 1);
  });
});
