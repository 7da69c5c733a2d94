import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { changeCeiling } from '../../../src/access/keys/change-ceiling.ts';
import { MEMBERS_MAX } from '../../../src/access/members/member.ts';
import { displayMicros } from '../../../src/money/amount.ts';
import {
  cookieOf,
  getPage,
  joinByLink,
  makeMailLog,
  makeMember,
  sendForm,
  type TestMember,
} from '../../support/console.ts';
import { createCredential, join } from '../../support/devices.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf, makeKey, setLimits } from '../../support/tenants.ts';

const mails = makeMailLog();
const app = useService({ log: mails.log, isRestricted: true });
const db = () => app.service.deps.db;
let tenant: TestTenant;
let owner: TestMember;

beforeAll(async () => {
  tenant = await app.paidTenant();
  owner = await makeMember(db(), idOf(tenant));
});

/** The key that a page shows once. */
const shownKey = (text: string) => /svc_[0-9a-f]{16}_[\w-]{43}/.exec(text)?.[0];

async function keysOf(
  of: TestTenant,
): Promise<{ id: string; name: string; kind: string; revoked_at?: string; retires_at?: string }[]> {
  return (await app.request('GET', '/v1/keys', { key: of.key })).json.keys;
}

async function newestEntry(of: TestTenant) {
  return (await app.request('GET', '/v1/audit?limit=1', { key: of.key })).json.entries[0];
}

describe('keys', () => {
  const create = (fields: Record<string, string>, { cookie } = owner) =>
    sendForm(
      app,
      '/console/keys',
      { form: randomUUID(), kind: 'relay', name: 'made here', ...fields },
      { cookie },
    );

  test('a key is created, works, is shown once and is in the audit trail with its member', async () => {
    const answer = await create({});
    expect(answer.status).toBe(200);
    const key = shownKey(answer.text)!;
    const usage = await app.request('POST', '/v1/usage', { key, body: { records: [] } });
    expect(usage.status).toBe(200);
    expect((await getPage(app, '/console/keys', owner.cookie)).text).not.toContain(key);
    expect(await newestEntry(tenant)).toMatchObject({
      action: 'key_created',
      actor: { kind: 'member', id: owner.id },
    });
  });

  test('a form that is sent ten times at once creates one key', async () => {
    const form = randomUUID();
    const before = (await keysOf(tenant)).length;
    const answers = await Promise.all(Array.from({ length: 10 }, () => create({ form, name: 'once' })));
    expect(new Set(answers.map(({ text }) => shownKey(text))).size).toBe(1);
    expect((await keysOf(tenant)).length).toBe(before + 1);
  });

  test.each([
    [{ form: 'not of a page' }, 'must be that of a page'],
    [{ kind: 'owner' }, 'Must be one of backend, relay'],
    [{ name: '' }, 'Give a name of 1 to 100 characters'],
    [{ name: 'x'.repeat(101) }, 'Give a name of 1 to 100 characters'],
  ])('%j creates none', async (fields, message) => {
    const before = (await keysOf(tenant)).length;
    const answer = await create(fields);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(message);
    expect((await keysOf(tenant)).length).toBe(before);
  });

  test('the limit of the tenant holds', async () => {
    const small = await app.paidTenant();
    await setLimits(db(), small, { api_keys: 2 });
    const answer = await create({}, await makeMember(db(), idOf(small)));
    expect(answer.status).toBe(409);
    expect(answer.text).toContain('at most 2 live API keys');
  });

  test('two tabs that rotate one key: one wins, the other is told', async () => {
    const { id } = await makeKey(db(), idOf(tenant), 'relay');
    const rotate = () =>
      sendForm(
        app,
        `/console/keys/${id}/rotate`,
        { form: randomUUID(), overlap: '3600' },
        { cookie: owner.cookie },
      );
    const answers = await Promise.all([rotate(), rotate()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(answers.find(({ status }) => status === 409)!.text).toContain(
      'This key was replaced already, perhaps in another tab: nothing was changed now.',
    );
    const listed = await getPage(app, '/console/keys', owner.cookie);
    expect(listed.text).toMatch(/retires<\/span> <time datetime="[^"]+" title="[^"]+" data-until>/);
  });

  test('a key is revoked only with the word, and the last one of its kind only with another', async () => {
    const of = await app.paidTenant();
    const { cookie } = await makeMember(db(), idOf(of));
    const path = `/console/keys/${of.relayKeyId}/revoke`;
    expect((await getPage(app, path, cookie)).text).toContain('<code>stop-service</code>');
    for (const confirm of ['', 'yes', 'revoke']) {
      expect((await sendForm(app, path, { confirm }, { cookie })).status).toBe(400);
    }
    expect((await sendForm(app, path, { confirm: 'stop-service' }, { cookie })).status).toBe(303);
    expect((await app.request('POST', '/v1/usage', { key: of.relayKey, body: { records: [] } })).status).toBe(
      401,
    );
    const { id } = await makeKey(db(), idOf(of), 'backend');
    const other = `/console/keys/${id}/revoke`;
    expect((await getPage(app, other, cookie)).text).toContain('<code>revoke</code>');
    expect((await sendForm(app, other, { confirm: 'revoke' }, { cookie })).status).toBe(303);
    expect(await newestEntry(of)).toMatchObject({ action: 'key_revoked', actor: { kind: 'member' } });
  });

  test('a new key cannot do more than an operator left to the newest one', async () => {
    const of = await app.paidTenant();
    await changeCeiling(db(), { kind: 'operator', id: 'test' }, of.keyId, { rank: 5 });
    const member = await makeMember(db(), idOf(of));
    const id = shownKey((await create({ kind: 'backend' }, member)).text)!.split('_')[1];
    const { rows } = await db().query('select ceiling_rank as rank from api_keys where id = $1', [id]);
    expect(rows).toEqual([{ rank: 5 }]);
  });

  test('the wizard creates both keys of a tenant that signed up here', async () => {
    const signedUp = await sendForm(app, '/console/signup', { name: 'New', email: 'new@example.com' });
    const cookie = cookieOf(signedUp);
    expect((await getPage(app, '/console/keys', cookie)).text).toContain('You have no keys yet.');
    const answer = await sendForm(app, '/console/start/keys', { form: randomUUID() }, { cookie });
    const keys = answer.text.match(/svc_[0-9a-f]{16}_[\w-]{43}/g)!;
    expect(new Set(keys).size).toBe(2);
    const { status } = await app.request('GET', '/v1/keys', { key: keys[0]! });
    expect(status).toBe(200);
  });
});

describe('members', () => {
  const invite = (fields: Record<string, string>, { cookie } = owner) =>
    sendForm(app, '/console/members', { role: 'finance', ...fields }, { cookie });

  test('an invited person gets a mail without a secret, and says yes after a log-in with a link of their own', async () => {
    const answer = await invite({ email: 'Invited@Example.com ' });
    expect(answer.status).toBe(303);
    const [mail] = await mails.waitFor('invited@example.com', 1);
    expect(mail).toContain(`http://service.test/console?tenant=${tenant.id}\n`);
    expect(mail).not.toMatch(/login\/[\w-]{43}/);
    expect(await newestEntry(tenant)).toMatchObject({
      action: 'member_invited',
      actor: { kind: 'member', id: owner.id },
    });
    await sendForm(app, '/console/login', { email: 'invited@example.com' });
    const opened = await joinByLink(app, await mails.linkTo('invited@example.com'), tenant.id);
    expect((await getPage(app, '/console', cookieOf(opened))).text).toContain('<span>finance</span>');
  });

  test('an address is a member once, whatever its case', async () => {
    await invite({ email: 'twice@example.com' });
    const answer = await invite({ email: 'TWICE@example.com' });
    expect([answer.status, answer.text.includes('Email was invited already.')]).toEqual([400, true]);
  });

  test.each([
    { email: 'nobody' },
    { email: 'a@example.com\r\nBcc: b@example.com' },
    { role: 'root', email: 'a@example.com' },
  ])('%j invites nobody', async (fields) => {
    const count = async () => (await db().query('select count(*) from members')).rows[0].count;
    const before = await count();
    expect((await invite(fields)).status).toBe(400);
    expect(await count()).toBe(before);
  });

  test('a tenant has at most so many', async () => {
    const of = await app.signUp();
    const member = await makeMember(db(), idOf(of));
    await db().query(
      `insert into members (tenant_id, id, email, role)
       select $1, 'm_' || lpad(to_hex(n), 32, '0'), n || '@example.com', 'viewer' from generate_series(1, $2) n`,
      [idOf(of), MEMBERS_MAX - 2],
    );
    const answer = await invite({ email: 'one-more@example.com' }, member);
    expect([answer.status, answer.text.includes(`at most ${MEMBERS_MAX} members`)]).toEqual([409, true]);
  });

  test('two owners who remove each other at the same time leave one', async () => {
    const of = await app.signUp();
    await db().query('delete from members where tenant_id = $1', [idOf(of)]);
    const [one, other] = [await makeMember(db(), idOf(of)), await makeMember(db(), idOf(of))];
    const answers = await Promise.all([
      sendForm(app, `/console/members/${other.id}/remove`, {}, { cookie: one.cookie }),
      sendForm(app, `/console/members/${one.id}/remove`, {}, { cookie: other.cookie }),
    ]);
    const { rows } = await db().query('select role from members where tenant_id = $1', [idOf(of)]);
    expect(rows).toEqual([{ role: 'owner' }]);
    expect(answers.filter(({ status }) => status === 409).length).toBeLessThanOrEqual(1);
  });

  test('the last owner stays one, and a role changes at once', async () => {
    const of = await app.signUp();
    await db().query('delete from members where tenant_id = $1', [idOf(of)]);
    const { id, cookie } = await makeMember(db(), idOf(of));
    for (const [path, fields] of [
      ['remove', {}],
      ['role', { role: 'viewer' }],
    ] as const) {
      const answer = await sendForm(app, `/console/members/${id}/${path}`, fields, { cookie });
      expect([answer.status, answer.text.includes('A tenant keeps at least one owner.')]).toEqual([
        409,
        true,
      ]);
    }
    const second = await makeMember(db(), idOf(of));
    expect(
      (await sendForm(app, `/console/members/${second.id}/role`, { role: 'viewer' }, { cookie })).status,
    ).toBe(303);
    expect(
      (await sendForm(app, `/console/members/${id}/role`, { role: 'viewer' }, { cookie: second.cookie }))
        .status,
    ).toBe(403);
  });

  test('a signup over REST has its address as the first owner', async () => {
    await app.request('POST', '/v1/signup', { body: { name: 'Rest', email: 'First.Owner@example.com' } });
    const { rows } = await db().query(
      `select email, role, joined_at from members where email = 'first.owner@example.com'`,
    );
    expect(rows).toEqual([{ email: 'first.owner@example.com', role: 'owner', joined_at: null }]);
  });
});

describe('money', () => {
  test('a moderator sees the overview without amounts', async () => {
    const of = await app.paidTenant();
    await db().query(`update payment_settings set last_top_up_error = 'declined' where tenant_id = $1`, [
      idOf(of),
    ]);
    const { cookie } = await makeMember(db(), idOf(of), { role: 'moderator' });
    for (const path of ['/console', '/console/start']) {
      const { status, text } = await getPage(app, path, cookie);
      expect([status, text.includes('$'), text.includes('declined')]).toEqual([200, false, false]);
    }
  });

  test('the figures are those of the ledger', async () => {
    const of = await app.paidTenant({ cents: 5_000 });
    const { cookie } = await makeMember(db(), idOf(of), { role: 'finance' });
    const records = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta'].flatMap((room, at) =>
      ['host', 'audience'].map((role) =>
        usageRecord({ room, role, egress_bytes: 10_000_000_000 * (at + 1), seconds: 86_000 }),
      ),
    );
    await app.request('POST', '/v1/usage', { key: of.relayKey, body: { records } });
    const { json } = await app.request('GET', '/v1/billing', { key: of.key });
    const spent = 50_000_000n - BigInt(json.balance.micros);
    const overview = await getPage(app, '/console', cookie);
    expect(overview.text).toContain(`Exactly ${json.balance.display}`);
    for (const by of ['room', 'role', 'tier']) {
      const shown = await getPage(app, `/console/spend?by=${by}`, cookie);
      expect(shown.text).toContain(`<p>${displayMicros(spent)} from`);
      const csv = await getPage(app, `/console/spend.csv?by=${by}`, cookie);
      const micros = csv.text
        .trim()
        .split('\r\n')
        .slice(1)
        .map((line) => BigInt(line.split(',')[2]!));
      expect(micros.reduce((sum, each) => sum + each, 0n)).toBe(spent);
    }
    expect((await getPage(app, '/console/spend?by=room', cookie)).text).toContain('All others');
  });

  test('the ledger has pages, filters, and explains each charge', async () => {
    const of = await app.paidTenant();
    const { cookie } = await makeMember(db(), idOf(of), { role: 'viewer' });
    const records = Array.from({ length: 60 }, (_, at) =>
      usageRecord({ id: `page/${at}&x`, room: at % 2 ? 'odd' : 'even' }),
    );
    await app.request('POST', '/v1/usage', { key: of.relayKey, body: { records } });
    const seen: string[] = [];
    let path: string | undefined = '/console/ledger';
    for (let pages = 0; path !== undefined && pages < 5; pages += 1) {
      const { text } = await getPage(app, path, cookie);
      seen.push(
        ...[...text.matchAll(/\/console\/charge\?id=([^"]+)"/g)].map(([, id]) => decodeURIComponent(id!)),
      );
      path = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(seen.sort()).toEqual(records.map(({ id }) => String(id)).sort());
    const even = await getPage(app, '/console/ledger?room=even&kind=usage&participant=&from=&to=', cookie);
    expect(even.text.match(/\/console\/charge/g)).toHaveLength(30);
    const charge = await getPage(app, `/console/charge?id=${encodeURIComponent('page/7&x')}`, cookie);
    expect(charge.text).toContain('<code>page/7&amp;x</code>');
    for (const wrong of [
      'kind=free',
      'from=yesterday',
      'from=2026-02-02&to=2026-01-01',
      'cursor=forged',
      `room=${'r'.repeat(300)}`,
    ]) {
      expect([wrong, (await getPage(app, `/console/ledger?${wrong}`, cookie)).status]).toEqual([wrong, 400]);
    }
    for (const wrong of ['by=name', 'from=2026-02-30', 'from=2026-02-02&to=2026-01-01', 'from=2020-01-01']) {
      expect([wrong, (await getPage(app, `/console/spend?${wrong}`, cookie)).status]).toEqual([wrong, 400]);
    }
    const cursor = /cursor=([^"&]+)" rel="next"/.exec(
      (await getPage(app, '/console/ledger', cookie)).text,
    )![1];
    expect((await getPage(app, `/console/ledger?cursor=${cursor}`, owner.cookie)).status).toBe(400);
  });

  test('a charge says which session it belongs to, or why it belongs to none', async () => {
    const of = await app.paidTenant();
    const { cookie } = await makeMember(db(), idOf(of));
    const { credential } = await createCredential(app, of);
    await join(app, credential, { username: 'Ann' });
    const [hers, his, nameless] = [
      usageRecord({ room: 'lobby', participant: 'Ann', seconds: 1 }),
      usageRecord({ room: 'lobby', participant: 'bob' }),
      usageRecord({ room: 'lobby', participant: undefined }),
    ];
    await app.request('POST', '/v1/usage', { key: of.relayKey, body: { records: [hers, his, nameless] } });
    const see = async ({ id }: { id?: unknown }) =>
      (await getPage(app, `/console/charge?id=${id}`, cookie)).text;
    await expect
      .poll(() => see(hers))
      .toMatch(/belongs to <a href="\/console\/room-sessions\/se_\w{32}">a session of <bdi>Ann</);
    expect(await see(his)).toContain('<bdi>bob</bdi> has not entered <bdi>lobby</bdi> with a token');
    expect(await see(nameless)).toContain('as it names no participant in a room');
  });

  test('the ledger says which charges were capped', async () => {
    const of = await app.paidTenant();
    const { cookie } = await makeMember(db(), idOf(of));
    const records = [usageRecord({ seconds: 1, egress_bytes: 10 ** 9 }), usageRecord({ egress_bytes: 1 })];
    await app.request('POST', '/v1/usage', { key: of.relayKey, body: { records } });
    const { text } = await getPage(app, '/console/ledger?kind=usage', cookie);
    expect(text.match(/data-label="Amount".*?<\/td>/gs)!.map((cell) => cell.includes('>capped<'))).toEqual([
      false,
      true,
    ]);
  });

  test.each([
    ['20', 200],
    ['$20.50', 200],
    ['10', 200],
    ['10000', 200],
    ['9.99', 400],
    ['10000.01', 400],
    ['', 400],
    ['1e3', 400],
    ['-20', 400],
    ['20,5', 400],
    ['20.555', 400],
    ['٢٠', 400],
  ])('paying "%s" dollars is answered with %i', async (dollars, status) => {
    const answer = await sendForm(app, '/console/checkout', { dollars }, { cookie: owner.cookie });
    expect(answer.status).toBe(status);
    if (status === 200)
      expect(answer.text).toMatch(
        /<meta http-equiv="refresh" content="0; url=http[^"]+\/c\/pay\/cs_test_\w+">/,
      );
  });

  test('a statement is that of the REST interface, as a page and as CSV', async () => {
    const month = new Date().toISOString().slice(0, 7);
    const page = await getPage(app, `/console/statements/${month}`, owner.cookie);
    expect(page.text).toContain('<a href="/console/statements">All statements</a>');
    expect(page.text).toContain('so far');
    expect(page.text).toContain('<a href="/console/statements" aria-current="true">Statements</a>');
    expect(page.text).toContain('<button type="button" data-print hidden>Print</button>');
    const style = /href="(\/console\/assets\/statement\.[^"]+)"/.exec(page.text)![1]!;
    expect((await getPage(app, style)).text).toContain('.statement {');
    const csv = await getPage(app, `/console/statements/${month}/csv`, owner.cookie);
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const { text } = await getPage(app, '/console/statements', owner.cookie);
    expect(text).toContain(`href="/console/statements/${month}/csv"`);
    for (const wrong of ['2026-13', 'x', '2999-01']) {
      expect(
        (await getPage(app, `/console/statements/${wrong}`, owner.cookie)).status,
      ).toBeGreaterThanOrEqual(400);
    }
  });
});

test('pages of errors know who is logged in', async () => {
  const of = await app.paidTenant();
  const only = await makeMember(db(), idOf(of));
  const finance = await makeMember(db(), idOf(of), { role: 'finance' });
  const refused = await getPage(app, '/console/keys', finance.cookie);
  const conflict = await sendForm(app, `/console/members/${only.id}/remove`, {}, only);
  for (const [{ status, text }, expected, role] of [
    [refused, 403, 'finance'],
    [conflict, 409, 'owner'],
  ] as const) {
    expect([status, text.includes('class="way-in"')]).toEqual([expected, false]);
    expect(text).toContain(`<span>${role}</span>`);
  }
});

test('the first steps lead to keys only those who may see them', async () => {
  const of = await app.paidTenant();
  for (const [role, leads] of [
    ['viewer', true],
    ['finance', false],
    ['moderator', false],
  ] as const) {
    const { cookie } = await makeMember(db(), idOf(of), { role });
    const { text } = await getPage(app, '/console/start', cookie);
    expect([role, text.includes('href="/console/keys">See them')]).toEqual([role, leads]);
  }
});

test('the first steps are read again until there is usage', async () => {
  const of = await app.paidTenant();
  const { cookie } = await makeMember(db(), idOf(of));
  const isReadAgain = async () =>
    (await getPage(app, '/console/start', cookie)).text.includes('http-equiv="refresh"');
  expect(await isReadAgain()).toBe(true);
  await app.request('POST', '/v1/usage', { key: of.relayKey, body: { records: [usageRecord()] } });
  expect(await isReadAgain()).toBe(false);
});
