/** What people of a tenant get that is suspended or archived. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ROUTES } from '../../../src/doors/console/routes.ts';
import { changeStatus } from '../../../src/money/tenant-status/change-status.ts';
import {
  cookieOf,
  getPage,
  makeMailLog,
  makeMember,
  sendForm,
  type TestMember,
} from '../../support/console.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';

const mails = makeMailLog();
const app = useService({ log: mails.log, isRestricted: true });
const db = () => app.service.deps.db;
let tenant: TestTenant;
let owner: TestMember;

beforeAll(async () => {
  tenant = await app.paidTenant();
  owner = await makeMember(db(), idOf(tenant));
  await changeStatus(db(), OPERATOR, idOf(tenant), 'suspended', 'card testing <b>', 'Unusual <payments>');
});

/** The page that a log-in by mail begins with. */
async function openedBy(email: string): Promise<string | null> {
  await sendForm(app, '/console/login', { email });
  return (await sendForm(app, await mails.linkTo(email), {})).headers.get('location');
}

async function logIn(email: string): Promise<string> {
  await sendForm(app, '/console/login', { email });
  return cookieOf(await sendForm(app, await mails.linkTo(email), {}));
}

describe('a suspended tenant', () => {
  test('tells a session that runs, and a new log-in by mail, which tenant, why, since when and whom to ask', async () => {
    for (const cookie of [owner.cookie, await logIn(owner.email)]) {
      const { status, text } = await getPage(app, '/console', cookie);
      expect(status).toBe(403);
      for (const words of [
        tenant.id,
        'suspended since',
        'Unusual &lt;payments&gt;',
        'mailto:help@service.test',
        'Log out',
      ])
        expect(text).toContain(words);
      expect(text).not.toContain('class="way-in"');
      expect(text).not.toContain('card testing');
    }
  });

  test('opens nothing else, and changes nothing, but a payment and a move to another tenant', async () => {
    const works = ROUTES.filter((route) => 'worksIn' in route && route.worksIn);
    expect(works.map(({ path }) => path).sort()).toEqual(['/console/checkout', '/console/tenants']);
    const { rows: before } = await db().query('select count(*) from audit_entries');
    for (const route of ROUTES.filter((each) => each.needs !== 'nothing' && !works.includes(each))) {
      const path = route.path
        .replace(':id', '0123456789abcdef')
        .replace(':month', '2026-01')
        .replace(':room', 'lobby');
      const answer =
        route.method === 'GET'
          ? await getPage(app, path, owner.cookie)
          : await sendForm(app, path, {}, { cookie: owner.cookie });
      expect([route.path, answer.status]).toEqual([route.path, 403]);
      expect(answer.text).toContain('is suspended');
    }
    expect((await db().query('select count(*) from audit_entries')).rows).toEqual(before);
  });

  test('can be paid in to by those who may pay, and by no others', async () => {
    expect((await getPage(app, '/console', owner.cookie)).text).toContain('action="/console/checkout"');
    const paying = await sendForm(app, '/console/checkout', { dollars: '20' }, owner);
    expect([paying.status, paying.text.includes('payment page')]).toEqual([200, true]);
    const viewer = await makeMember(db(), idOf(tenant), { role: 'viewer' });
    expect((await getPage(app, '/console', viewer.cookie)).text).not.toContain('/console/checkout');
    expect((await sendForm(app, '/console/checkout', { dollars: '20' }, viewer)).text).not.toContain(
      'payment page',
    );
  });

  test('takes no payment of a founder who has yet to say what may stay, and offers none', async () => {
    const founder = await makeMember(db(), idOf(tenant));
    const pay = () => sendForm(app, '/console/checkout', { dollars: '20' }, founder);
    await db().query('update members set must_review = true where tenant_id = $1 and id = $2', [
      idOf(tenant),
      founder.id,
    ]);
    const { text } = await getPage(app, '/console', founder.cookie);
    expect([text.includes('/console/checkout'), text.includes('Only then can')]).toEqual([false, true]);
    const refused = await pay();
    expect([refused.status, refused.text.includes('is suspended')]).toEqual([403, true]);
    await db().query('update members set must_review = false where id = $1', [founder.id]);
    expect((await pay()).status).toBe(200);
  });

  test('shows the balance to those who see money', async () => {
    const words = 'Its balance is <strong>$20.00</strong>';
    expect((await getPage(app, '/console', owner.cookie)).text).toContain(words);
    const moderator = await makeMember(db(), idOf(tenant), { role: 'moderator' });
    expect((await getPage(app, '/console', moderator.cookie)).text).not.toContain('balance');
  });

  test('leaves the other tenants of the person open', async () => {
    const other = await app.paidTenant();
    const { email } = await makeMember(db(), idOf(other));
    const { cookie } = await makeMember(db(), idOf(tenant), { email });
    expect((await getPage(app, '/console', cookie)).text).toContain(`value="${other.id}"`);
    const moved = await sendForm(app, '/console/tenants', { tenant: other.id }, { cookie });
    expect((await getPage(app, '/console', cookieOf(moved))).status).toBe(200);
  });

  test('is reached from the list of tenants and from the page of another one that is closed', async () => {
    const [open, archived] = [await app.paidTenant(), await app.paidTenant()];
    const { email, cookie } = await makeMember(db(), idOf(open));
    for (const each of [tenant, archived]) await makeMember(db(), idOf(each), { email });
    await changeStatus(db(), OPERATOR, idOf(archived), 'archived', 'asked to');
    expect((await getPage(app, '/console/tenants', cookie)).text).toContain('See why <span class="hidden">');
    const move = (to: TestTenant, from: string) =>
      sendForm(app, '/console/tenants', { tenant: to.id }, { cookie: from });
    const moved = cookieOf(await move(tenant, cookie));
    const { text } = await getPage(app, '/console', moved);
    for (const words of ['Unusual &lt;payments&gt;', 'action="/console/checkout"', `value="${archived.id}"`])
      expect(text).toContain(words);
    const paying = await sendForm(app, '/console/checkout', { dollars: '20' }, { cookie: moved });
    expect(paying.status).toBe(200);
    expect((await getPage(app, '/console', cookieOf(await move(open, moved)))).status).toBe(200);
  });

  test('is named by a log-in that opens another tenant, once and to its members', async () => {
    const other = await app.paidTenant();
    const { email } = await makeMember(db(), idOf(other));
    await makeMember(db(), idOf(tenant), { email });
    await sendForm(app, '/console/login', { email });
    const opened = await sendForm(app, await mails.linkTo(email), {});
    const at = opened.headers.get('location')!;
    expect(at).toBe(`/console?passed_over=${tenant.id}`);
    const { status, text } = await getPage(app, at, cookieOf(opened));
    expect([status, text.includes('which you used last, is suspended')]).toEqual([200, true]);
    const stranger = await makeMember(db(), idOf(other));
    expect((await getPage(app, at, stranger.cookie)).text).not.toContain('which you used last');
    expect(await openedBy(email)).toBe('/console');
  });

  test('lets its people log out', async () => {
    const { cookie } = await makeMember(db(), idOf(tenant));
    const left = await sendForm(app, '/console/logout', {}, { cookie });
    expect(left.headers.get('set-cookie')).toContain('Max-Age=0');
    expect((await getPage(app, '/console', cookie)).status).toBe(303);
  });
});

describe('a tenant that is archived', () => {
  test('tells so too, and takes no payment', async () => {
    const of = await app.paidTenant();
    const { cookie } = await makeMember(db(), idOf(of));
    await changeStatus(db(), OPERATOR, idOf(of), 'archived', 'asked to');
    const { status, text } = await getPage(app, '/console', cookie);
    expect([status, text.includes('is archived'), text.includes('/console/checkout')]).toEqual([
      403,
      true,
      false,
    ]);
    expect((await sendForm(app, '/console/checkout', { dollars: '20' }, { cookie })).status).toBe(403);
  });
});

describe('a tenant that is deleted', () => {
  test('has nothing, and a log-in leads nowhere', async () => {
    const of = await app.paidTenant();
    const { cookie } = await makeMember(db(), idOf(of));
    await changeStatus(db(), OPERATOR, idOf(of), 'deleted', 'asked to');
    expect((await getPage(app, '/console', cookie)).headers.get('location')).toMatch(/^\/console\/login/);
  });
});

test('a log-in while it was suspended goes on when it is open again, and one of before does not', async () => {
  const of = await app.paidTenant();
  const { cookie, email } = await makeMember(db(), idOf(of));
  await changeStatus(db(), OPERATOR, idOf(of), 'suspended', 'test');
  const during = await logIn(email);
  await changeStatus(db(), OPERATOR, idOf(of), 'active', 'test');
  const statuses = await Promise.all([cookie, during].map((each) => getPage(app, '/console', each)));
  expect(statuses.map(({ status }) => status)).toEqual([303, 200]);
});
