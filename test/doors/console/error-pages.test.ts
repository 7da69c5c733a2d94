/** What a person who is logged in sees of an error: the navigation, what happened, who can help, and the way on. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { WRONG_LINKS_PER_MINUTE } from '../../../src/access/logins/login-limit.ts';
import { WEBHOOKS_MAX } from '../../../src/outward/webhooks/webhook.ts';
import { getPage, logInByKey, makeMember, sendForm, type TestMember } from '../../support/console.ts';
import { type Answer, ask, type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const SUPPORT = 'help@service.test';

const app = useService({ supportEmail: SUPPORT, payments: false });
const db = () => app.service.deps.db;
let tenant: TestTenant;
let owner: TestMember;
let viewer: TestMember;
let moderator: TestMember;

beforeAll(async () => {
  tenant = await app.signUp();
  owner = await makeMember(db(), idOf(tenant));
  viewer = await makeMember(db(), idOf(tenant), { role: 'viewer' });
  moderator = await makeMember(db(), idOf(tenant), { role: 'moderator' });
});

/** What the page of an error says: its title, whether it has the navigation, and where it leads. */
function read({ status, text }: Answer) {
  const [, main = ''] = /<main id="main">(.*)<\/main>/s.exec(text) ?? [];
  return {
    status,
    title: /<h1>(.*?)<\/h1>/.exec(main)?.[1],
    hasNavigation: text.includes('<nav aria-label="Console">') && !text.includes('>Log in</a>'),
    goesTo: /<a href="([^"]*)">Go to /.exec(main)?.[1],
  };
}

/** While `work` runs, the table is not there. */
async function without(table: string, work: () => Promise<Answer>): Promise<Answer> {
  await db().query(`alter table ${table} rename to hidden`);
  try {
    return await work();
  } finally {
    await db().query(`alter table hidden rename to ${table}`);
  }
}

test.each([
  ['/console/keys/0123456789abcdef', 404, 'There is no such key', '/console/keys'],
  ['/console/rooms/at/never-was', 404, 'There is no such room', '/console/rooms'],
  ['/console/rooms/at/a!b', 400, 'That was not understood', '/console/rooms'],
  ['/console/webhooks/wh_1/deliveries/1', 404, 'There is no such delivery', '/console/webhooks'],
  ['/console/keys/0123456789abcdef/rotate', 405, 'There is no such page', '/console/keys'],
  ['/console/ledger?from=2026-01-01&from=2026-01-01', 400, 'That was not understood', '/console/ledger'],
  ['/console/nowhere', 404, 'There is no such page', '/console'],
  ['/console/%zz', 404, 'There is no such page', '/console'],
])('%s answers %i with the navigation, and leads to the section', async (path, status, title, goesTo) => {
  expect(read(await getPage(app, path, owner.cookie))).toEqual({
    status,
    title,
    hasNavigation: true,
    goesTo,
  });
});

test('a form that cannot be read keeps the navigation, though the session was not asked for yet', async () => {
  for (const raw of ['name=a&name=b', `name=${'a'.repeat(100_000)}`]) {
    const answer = await ask(`${app.url}/console/keys`, 'POST', {
      raw,
      headers: { 'content-type': 'application/x-www-form-urlencoded', cookie: owner.cookie },
    });
    expect(read(answer)).toMatchObject({ status: 400, hasNavigation: true, goesTo: '/console/keys' });
  }
});

test('a form from elsewhere keeps the navigation, and leads to its section', async () => {
  const headers = { origin: 'https://elsewhere.example' };
  const answer = await sendForm(app, '/console/keys', { name: 'a' }, { ...owner, headers });
  expect(read(answer)).toMatchObject({ status: 403, hasNavigation: true });
  expect(answer.text).toContain(`<a href="${app.config.publicUrl}/console/keys">`);
});

describe('what a role may not', () => {
  test('names owners who can help, and a section that the role may see', async () => {
    const answer = await sendForm(app, '/console/keys', { name: 'a', kind: 'relay' }, viewer);
    expect(read(answer)).toEqual({
      status: 403,
      title: 'Your role does not allow this',
      hasNavigation: true,
      goesTo: '/console/keys',
    });
    expect(answer.text).toContain('Your role here is viewer.');
    expect(answer.text).toContain(`<li><bdi>${owner.email}</bdi></li>`);
    expect(answer.text).not.toContain(moderator.email);
    const hidden = await getPage(app, '/console/ledger', moderator.cookie);
    expect(read(hidden)).toMatchObject({ status: 403, hasNavigation: true, goesTo: '/console' });
  });

  test('names no people to a session by key', async () => {
    const answer = await getPage(app, '/console/members', await logInByKey(app, tenant.key));
    expect(read(answer)).toMatchObject({ status: 403, hasNavigation: true });
    expect(answer.text).toContain('This session may do what its key may.');
    expect(answer.text).not.toContain(owner.email);
  });
});

test('what is not possible now says why, and leads to the section', async () => {
  const path = `/console/members/${owner.id}/role`;
  const answer = await sendForm(app, path, { role: 'viewer' }, owner);
  expect(read(answer)).toMatchObject({ status: 409, hasNavigation: true, goesTo: '/console/members' });
  expect(answer.text).toContain('A tenant keeps at least one owner.');
  expect(answer.text).not.toContain(SUPPORT);
});

test('beyond a limit, whom to write to', async () => {
  const { cookie } = await makeMember(db(), idOf(tenant));
  const send = (at: number) =>
    sendForm(app, '/console/webhooks', { form: randomUUID(), url: `https://a.example/${at}` }, { cookie });
  for (let at = 0; at < WEBHOOKS_MAX; at += 1) expect((await send(at)).status).toBe(200);
  const answer = await send(WEBHOOKS_MAX);
  expect(read(answer)).toMatchObject({ status: 409, hasNavigation: true, goesTo: '/console/webhooks' });
  expect(answer.text).toContain(`href="mailto:${SUPPORT}?subject=req_`);
});

test('after too many attempts, when to try again', async () => {
  const wrong = () => sendForm(app, `/console/login/${'a'.repeat(43)}`, {}, owner);
  for (let at = 0; at < WRONG_LINKS_PER_MINUTE; at += 1) await wrong();
  const answer = await wrong();
  expect(read(answer)).toMatchObject({ status: 429, title: 'Too many attempts', hasNavigation: true });
  expect(answer.text).toMatch(/Try again in \d+ seconds?\./);
});

describe('what is ours', () => {
  test('says so, and whom to write to, with the number of the request', async () => {
    const answer = await without('usage_conflicts', () => getPage(app, '/console/conflicts', owner.cookie));
    expect(read(answer)).toEqual({
      status: 500,
      title: 'That did not work',
      hasNavigation: true,
      goesTo: '/console/conflicts',
    });
    expect(answer.text).toContain('The error is ours');
    const id = answer.headers.get('x-request-id');
    expect(answer.text).toContain(`<a href="mailto:${SUPPORT}?subject=${id}">${SUPPORT}</a>`);
  });

  test('includes payments that are not configured', async () => {
    const answer = await sendForm(app, '/console/checkout', { dollars: '20' }, owner);
    expect(read(answer)).toEqual({
      status: 503,
      title: 'There are no payments here',
      hasNavigation: true,
      goesTo: '/console/payments',
    });
    expect(answer.text).toContain(SUPPORT);
  });

  test('does not offer a log-in to a person who may be logged in, where the session cannot be read', async () => {
    const answer = await without('console_sessions', () => getPage(app, '/console/keys', owner.cookie));
    expect(read(answer)).toMatchObject({ status: 500, hasNavigation: false, goesTo: '/console/keys' });
    expect(answer.text).not.toContain('href="/console/login"');
    expect(answer.text).toContain(SUPPORT);
  });
});

test('without a session, an error offers the ways in', async () => {
  const answer = await getPage(app, '/console/nowhere');
  expect(answer.status).toBe(404);
  for (const way of ['/console/signup', '/console/login']) expect(answer.text).toContain(`href="${way}"`);
});
