import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { WEBHOOKS_MAX } from '../../../src/outward/webhooks/webhook.ts';
import { appendCounted, makeWebhook } from '../../outward/webhooks/support.ts';
import { getPage, makeMember, sendForm, type TestMember } from '../../support/console.ts';
import { FAST_WEBHOOKS, useReceiver } from '../../support/receiver.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService({ webhooks: FAST_WEBHOOKS, isRestricted: true });
const receiver = useReceiver();
const db = () => app.service.deps.db;
let tenant: TestTenant;
let owner: TestMember;

beforeAll(async () => {
  tenant = await app.paidTenant();
  owner = await makeMember(db(), idOf(tenant));
});

const post = (path: string, fields: Record<string, string> = {}, { cookie } = owner) =>
  sendForm(app, `/console/webhooks${path}`, fields, { cookie });
const look = (path: string, { cookie } = owner) => getPage(app, `/console/webhooks${path}`, cookie);
const listOf = async (of: TestTenant) =>
  (await app.request('GET', '/v1/webhooks', { key: of.key })).json.webhooks;
const get = async (id: string) => (await app.request('GET', `/v1/webhooks/${id}`, { key: tenant.key })).json;
const newest = async () =>
  (await app.request('GET', '/v1/audit?limit=1', { key: tenant.key })).json.entries[0];
const secretIn = (text: string) => /whsec_[\w+/]+=*/.exec(text)?.[0];

const deliveriesIn = (text: string) =>
  [...text.matchAll(/href="\/console\/webhooks(\/[^"]+\/deliveries\/whd_\d+)"/g)].map(([, path]) => path!);
const unescaped = (text: string) =>
  text.replace(/&(quot|lt|gt|amp|#39);/g, (_all, name: string) => CHARACTERS[name]!);
const CHARACTERS: Readonly<Record<string, string>> = { quot: '"', lt: '<', gt: '>', amp: '&', '#39': "'" };

let hooks = 0;
async function makeHook(more: object = {}): Promise<{ id: string; path: string }> {
  hooks += 1;
  const path = `/hook-${hooks}`;
  const { id } = await makeWebhook(app, tenant, receiver.url(path), more);
  return { id, path };
}

describe('a webhook', () => {
  test('is created with its secret, which is shown once, and its events arrive', async () => {
    const of = await app.paidTenant();
    const member = await makeMember(db(), idOf(of));
    const fields = {
      form: randomUUID(),
      url: receiver.url('/made'),
      description: 'mine',
      type_credit_spent: 'on',
    };
    const created = await post('', fields, member);
    expect(created.status).toBe(200);
    const secret = secretIn(created.text)!;
    expect(created.text).toContain('whpk_');
    const [webhook, ...others] = await listOf(of);
    expect([webhook.types, webhook.description, others]).toEqual([['credit_spent'], 'mine', []]);
    // A form that is sent twice.
    expect(secretIn((await post('', fields, member)).text)).toBe(secret);
    expect((await listOf(of)).length).toBe(1);
    for (const path of ['', `/${webhook.id}`]) {
      expect((await look(path, member)).text).not.toContain(secret);
    }
    const publicKey = /whpk_[\w+/]+=*/.exec(created.text)![0];
    expect((await look(`/${webhook.id}`, member)).text).toContain(publicKey);
    await appendCounted(app, of, 1);
    await vi.waitFor(() => expect(receiver.received('/made').length).toBe(1));
    const { entries } = (await app.request('GET', '/v1/audit?action=webhook_created', { key: of.key })).json;
    expect(entries).toMatchObject([{ actor: { kind: 'member', id: member.id } }]);
  });

  test.each([
    [{ url: '' }, 'url'],
    [{ url: 'ftp://x.example/' }, 'url'],
    [{ url: 'https://user:secret@x.example/' }, 'url'],
    [{ url: 'https://10.0.0.1/' }, 'url'],
    [{ url: 'javascript:alert(1)' }, 'url'],
    [{ url: `https://x.example/${'a'.repeat(2048)}` }, 'url'],
    [{ description: 'x'.repeat(201) }, 'description'],
    [{ description: 'a\nb' }, 'description'],
    [{ description: 'a\u202eb' }, 'description'],
    [{ order: 'random' }, 'order'],
    [{ max_in_flight: '21' }, 'max_in_flight'],
    [{ max_in_flight: '' }, 'max_in_flight'],
    [{ max_in_flight: '1.5' }, 'max_in_flight'],
    [{ max_per_second: '0' }, 'max_per_second'],
    [{ max_per_second: '1001' }, 'max_per_second'],
    [{ max_batch: '0' }, 'max_batch'],
    [{ max_batch: '101' }, 'max_batch'],
    [{ format: 'xml' }, 'format'],
  ])('%j is told beside its field', async (fields, wrong) => {
    const before = await listOf(tenant);
    const all = { form: randomUUID(), url: 'https://x.example/', description: '', ...fields };
    const answer = await post('', all as Record<string, string>);
    expect([answer.status, answer.text.includes(`id="${wrong}-fault"`)]).toEqual([400, true]);
    expect(await listOf(tenant)).toEqual(before);
  });

  test('is refused beyond the limit', async () => {
    const of = await app.paidTenant();
    const member = await makeMember(db(), idOf(of));
    for (let count = 0; count < WEBHOOKS_MAX; count += 1) {
      await makeWebhook(app, of, `https://x.example/${count}`);
    }
    expect((await look('', member)).text).not.toContain('Create a webhook</h2>');
    const answer = await post('', { form: randomUUID(), url: 'https://x.example/', description: '' }, member);
    expect(answer.status).toBe(409);
  });

  test('is changed, paused, resumed, gets a new secret, and is deleted', async () => {
    const { id, path } = await makeHook();
    const fields = { url: receiver.url('/moved'), description: 'other', type_balance_low: 'on' };
    expect((await post(`/${id}`, fields)).status).toBe(303);
    expect(await get(id)).toMatchObject({ types: ['balance_low'], description: 'other', order: 'tenant' });
    const flow = {
      ...{ order: 'room', max_in_flight: '20', max_per_second: '5' },
      ...{ format: 'cloudevents', max_batch: '9' },
    };
    expect((await post(`/${id}`, { ...fields, ...flow })).status).toBe(303);
    expect(await get(id)).toMatchObject({
      ...{ order: 'room', max_in_flight: 20, max_per_second: 5 },
      ...{ format: 'cloudevents', max_batch: 9 },
    });
    expect((await look(`/${id}`)).text).toMatch(/<option value="room" selected>/);
    expect((await post(`/${id}`, { ...fields, ...flow, max_per_second: '' })).status).toBe(303);
    expect(await get(id)).not.toHaveProperty('max_per_second');
    expect((await post(`/${id}`, { ...fields, ...flow, rooms: 'lobby, demo-*' })).status).toBe(303);
    expect(await get(id)).toMatchObject({ rooms: ['lobby', 'demo-*'] });
    expect((await look('')).text).toContain('1 type, of rooms lobby demo-*');
    expect((await post(`/${id}`, { ...fields, ...flow, rooms: 'a/b' })).text).toContain('id="rooms-fault"');
    const wrong = await post(`/${id}`, { ...fields, url: 'nowhere' });
    expect([wrong.status, wrong.text.includes('id="url-fault"')]).toEqual([400, true]);
    expect(path).not.toBe('/moved');

    expect((await post(`/${id}/pause`)).status).toBe(303);
    expect(await get(id)).toMatchObject({ state: 'paused', paused_by: 'tenant' });
    expect((await look(`/${id}`)).text).toContain('Resume');
    expect((await post(`/${id}/resume`)).status).toBe(303);
    expect(await get(id)).toMatchObject({ state: 'active' });
    expect(await newest()).toMatchObject({
      action: 'webhook_resumed',
      actor: { kind: 'member', id: owner.id },
    });

    const form = randomUUID();
    const rotated = await post(`/${id}/rotate`, { form, overlap: '0' });
    expect(secretIn(rotated.text)).toBeDefined();
    expect(secretIn((await post(`/${id}/rotate`, { form, overlap: '0' })).text)).toBe(secretIn(rotated.text));
    expect((await post(`/${id}/rotate`, { form: randomUUID(), overlap: '5' })).status).toBe(400);

    expect((await look(`/${id}/delete`)).text).toContain('Delete the webhook');
    expect((await post(`/${id}/delete`)).status).toBe(303);
    expect((await look(`/${id}`)).status).toBe(404);
    expect(await newest()).toMatchObject({
      action: 'webhook_deleted',
      actor: { kind: 'member', id: owner.id },
    });
  });

  test('gets headers and Basic authentication, which no page shows again', async () => {
    const { id, path } = await makeHook();
    const fields = { headers: 'X-Key: open\r\n\r\nx-b: two: parts', username: 'ann', password: 'pass' };
    expect((await post(`/${id}/headers`, fields)).status).toBe(303);
    expect(await get(id)).toMatchObject({ header_names: ['x-key', 'x-b'], has_basic_auth: true });
    await post(`/${id}/test`, { form: randomUUID() });
    expect(receiver.received(path)[0]!.headers).toMatchObject({
      'x-key': 'open',
      'x-b': 'two: parts',
      authorization: `Basic ${Buffer.from('ann:pass').toString('base64')}`,
    });
    const [delivery] = deliveriesIn((await look(`/${id}`)).text);
    for (const page of ['', '/headers', delivery!.slice(`/${id}`.length)]) {
      const { text } = await look(`/${id}${page}`);
      for (const secret of ['open', 'two: parts', 'pass', 'YW5uOnBhc3M='])
        expect(text).not.toMatch(`>${secret}<`);
    }
    expect((await look(`/${id}/headers`)).text).toContain('Keep the headers <code>x-key</code>');
    expect((await look(delivery!)).text).toContain('are never shown');
    const wrong = await post(`/${id}/headers`, { headers: 'host: x', username: 'a:b' });
    expect([wrong.status, wrong.text.includes('id="headers-fault"')]).toEqual([400, true]);
    expect((await post(`/${id}/headers`, { headers: 'secret without a colon' })).text).toContain(
      'headers-fault',
    );
    expect((await post(`/${id}/headers`, { headers: '' })).status).toBe(303);
    expect(await get(id)).toMatchObject({ header_names: [], has_basic_auth: false });
  });

  test('keeps the headers and Basic authentication that are not replaced', async () => {
    const { id } = await makeHook();
    await post(`/${id}/headers`, { headers: 'x-a: 1', username: 'ann', password: 'pass' });
    expect((await look(`/${id}/headers`)).text.match(/name="keep_\w+" checked/g)).toHaveLength(2);
    const kept = { keep_headers: 'on', keep_basic_auth: 'on', username: '', password: '' };
    expect((await post(`/${id}/headers`, { ...kept, headers: 'x-b: 2' })).status).toBe(303);
    expect(await get(id)).toMatchObject({ header_names: ['x-b'], has_basic_auth: true });
    await post(`/${id}/headers`, { ...kept, headers: '', username: 'bob' });
    expect(await get(id)).toMatchObject({ header_names: ['x-b'], has_basic_auth: true });
    const { keep_basic_auth: _unchecked, ...others } = kept;
    await post(`/${id}/headers`, { ...others, headers: '' });
    expect(await get(id)).toMatchObject({ header_names: ['x-b'], has_basic_auth: false });
    expect((await look(`/${id}/headers`)).text).not.toContain('keep_basic_auth');
  });

  test('is created with headers and Basic authentication, or with what is wrong with them', async () => {
    const of = await app.paidTenant();
    const member = await makeMember(db(), idOf(of));
    const fields = { form: randomUUID(), url: receiver.url('/with-headers') };
    const own = { headers: 'x-key: open', username: 'ann', password: 'pass' };
    const wrong = await post('', { ...fields, ...own, headers: 'host: x' }, member);
    expect([wrong.status, wrong.text.includes('id="headers-fault"')]).toEqual([400, true]);
    const twice = await post('', { ...fields, ...own, headers: 'open', url: 'x' }, member);
    expect([twice.text.includes('headers-fault'), twice.text.includes('url-fault')]).toEqual([true, true]);
    const taken = await post('', { ...fields, ...own, headers: 'authorization: x' }, member);
    expect(taken.text).toContain('id="username-fault"');
    expect((await post('', { ...fields, ...own, form: randomUUID() }, member)).status).toBe(200);
    expect(await listOf(of)).toMatchObject([{ header_names: ['x-key'], has_basic_auth: true }]);
  });

  test('tells a member who may not create it so, and nothing of the fields', async () => {
    const viewer = await makeMember(db(), idOf(tenant), { role: 'viewer' });
    for (const path of ['', '/wh_0/headers'])
      expect((await post(path, { nonsense: 'x' }, viewer)).status).toBe(403);
    expect((await post('', { nonsense: 'x' })).status).toBe(400);
  });

  test('of another tenant is not found, whatever is done with it', async () => {
    const { id } = await makeHook();
    const of = await app.paidTenant();
    const stranger = await makeMember(db(), idOf(of));
    const form = randomUUID();
    for (const path of ['', '/delete']) expect((await look(`/${id}${path}`, stranger)).status).toBe(404);
    const FORMS: readonly [string, Record<string, string>][] = [
      ['', { url: 'https://x.example/', description: '' }],
      ['/pause', {}],
      ['/resume', {}],
      ['/rotate', { form, overlap: '0' }],
      ['/delete', {}],
      ['/test', { form }],
      ['/resend', { form, seq: '1' }],
      ['/resend-since', { since: '2026-01-01' }],
    ];
    for (const [path, fields] of FORMS) {
      // Each with an id of its own: one that was used for another form would be refused for that.
      const own = 'form' in fields ? { ...fields, form: randomUUID() } : fields;
      expect([path, (await post(`/${id}${path}`, own, stranger)).status]).toEqual([path, 404]);
    }
    expect(await get(id)).toMatchObject({ state: 'active' });
  });

  test('of a viewer has its host alone, and no answers', async () => {
    const { id, path } = await makeHook();
    receiver.answer(path, () => 500);
    await post(`/${id}/test`, { form: randomUUID() });
    const viewer = await makeMember(db(), idOf(tenant), { role: 'viewer' });
    for (const shown of ['', `/${id}`]) {
      const { status, text } = await look(shown, viewer);
      expect([status, text.includes(path), text.includes('status 500')]).toEqual([200, false, false]);
      expect(text).not.toMatch(/<form[^>]* action="\/console\/webhooks/);
    }
    expect((await look(`/${id}`)).text).toContain('<bdi>status 500</bdi>');
  });
});

describe('deliveries', () => {
  test('a test event is sent once for each form, and its outcome is shown', async () => {
    const { id, path } = await makeHook();
    const form = randomUUID();
    const answers = await Promise.all([1, 2, 3].map(() => post(`/${id}/test`, { form })));
    for (const { status, text } of answers) {
      expect([status, text.includes('was delivered: status 204')]).toEqual([200, true]);
    }
    expect(receiver.received(path).filter(({ event }) => event.type === 'webhook_test').length).toBe(1);
    receiver.answer(path, () => 503);
    const refused = await post(`/${id}/test`, { form: randomUUID() });
    expect(refused.text).toContain('was not delivered: the answer had the status 503');
    expect((await post(`/${id}/test`, { form: 'forged' })).status).toBe(400);
  });

  test('each attempt is listed, page by page, and its event can be sent again', async () => {
    const { id, path } = await makeHook({ types: ['credit_spent'] });
    await appendCounted(app, tenant, 30);
    await vi.waitFor(() => expect(receiver.received(path).length).toBe(30));
    await vi.waitFor(async () => {
      const { json } = await app.request('GET', `/v1/webhooks/${id}/deliveries`, { key: tenant.key });
      expect(json.deliveries.length).toBe(30);
    });
    const first = await look(`/${id}`);
    const next = /href="\/console\/webhooks([^"]+)" rel="next"/.exec(first.text)![1]!;
    const second = await look(next);
    expect([first, second].map(({ text }) => text.match(/data-label="Outcome"/g)!.length)).toEqual([25, 5]);
    expect((await look(`/${id}?before=x`)).status).toBe(400);

    const seq = /name="seq" value="(\d+)"/.exec(first.text)![1]!;
    const sent = await post(`/${id}/resend`, { form: randomUUID(), seq });
    expect(sent.text).toContain('<code>credit_spent</code> was delivered');
    expect(receiver.received(path).filter(({ event }) => String(event.seq) === seq).length).toBe(2);
    for (const wrong of ['', '0', 'x', '999999999']) {
      expect((await post(`/${id}/resend`, { form: randomUUID(), seq: wrong })).status).toBe(400);
    }
  });

  test('are listed by their outcome, beside what is put aside and was given up', async () => {
    const { id, path } = await makeHook({ order: 'none', types: ['credit_spent'] });
    receiver.answer(path, (_received, response) => {
      response.writeHead(500, { 'retry-after': '3600' }).end();
      return undefined;
    });
    await appendCounted(app, tenant, 1);
    await vi.waitFor(async () => expect(await get(id)).toMatchObject({ waiting: 1 }));
    receiver.answer(path, () => 204);
    await post(`/${id}/test`, { form: randomUUID() });
    const outcomes = async (query: string) =>
      [...(await look(`/${id}${query}`)).text.matchAll(/class="badge (?:good|bad)">(\d+)</g)].map(
        ([, status]) => status,
      );
    expect(await outcomes('')).toEqual(['204', '500']);
    expect(await outcomes('?outcome=failed')).toEqual(['500']);
    expect(await outcomes('?outcome=delivered')).toEqual(['204']);
    const { text } = await look(`/${id}`);
    expect(text).toMatch(/but for 1 event put aside, next tried <time [^>]+data-until>in [01]:\d\d:\d\d</);
    expect(text).toContain('Events that were given up</a>: 0');
    await db().query('update webhook_deliveries set gave_up = true where webhook_id = $1 and kind <> $2', [
      id,
      'test',
    ]);
    expect((await look(`/${id}`)).text).toContain('Events that were given up</a>: 1');
    expect((await look(`/${id}?outcome=lost`)).status).toBe(400);
    const none = await makeHook();
    expect((await look(`/${none.id}?outcome=failed`)).text).toContain('No attempt ended so.');
  });

  test('each has a page with the request as it arrived', async () => {
    const { id, path } = await makeHook({ types: ['credit_spent'] });
    await appendCounted(app, tenant, 1);
    await vi.waitFor(() => expect(receiver.received(path).length).toBe(1));
    await post(`/${id}/test`, { form: randomUUID() });
    const seq = String(receiver.received(path)[0]!.event.seq);
    await post(`/${id}/resend`, { form: randomUUID(), seq });
    const pages = deliveriesIn((await look(`/${id}`)).text);
    expect(pages.length).toBe(3);
    for (const [at, { headers, text: body }] of receiver.received(path).toReversed().entries()) {
      const { text } = await look(pages[at]!);
      expect(unescaped(text)).toContain(`<code id="delivery-body">${body}</code>`);
      for (const name of [
        'webhook-id',
        'webhook-timestamp',
        'webhook-signature',
        'content-length',
        'user-agent',
      ])
        expect(text).toContain(`${name}: ${headers[name]}`);
      expect(text).toContain('Verify it yourself');
    }
    const stranger = await makeMember(db(), idOf(await app.paidTenant()));
    expect((await look(pages[0]!, stranger)).status).toBe(404);
    for (const wrong of ['0', '1', 'whd_0', 'whd_999999999', `whd_1${'0'.repeat(18)}`])
      expect((await look(`/${id}/deliveries/${wrong}`)).status).toBe(404);
    // Those of another webhook of the tenant, too.
    const other = await makeHook();
    expect((await look(pages[0]!.replace(id, other.id))).status).toBe(404);
  });

  test('the page of one shows no signature of a secret that is gone, and none to a viewer', async () => {
    const { id, path } = await makeHook();
    receiver.answer(path, () => 500);
    await post(`/${id}/test`, { form: randomUUID() });
    const [shown] = deliveriesIn((await look(`/${id}`)).text);
    const viewer = await makeMember(db(), idOf(tenant), { role: 'viewer' });
    const { text } = await look(shown!, viewer);
    expect(text).toContain('webhook-timestamp');
    for (const hidden of ['webhook-signature', 'Verify it yourself', 'status 500', path, '<form']) {
      expect([hidden, text.replace(/<header.*?<\/header>/s, '').includes(hidden)]).toEqual([hidden, false]);
    }
    expect((await look(shown!)).text).toContain('status 500');
    await db().query('delete from webhook_secrets where webhook_id = $1', [id]);
    const without = (await look(shown!)).text;
    expect([
      without.includes('webhook-signature:'),
      without.includes('The secret that signed it is gone'),
    ]).toEqual([false, true]);
  });

  test('the page of one tells of events that were deleted before it, and of one that is deleted itself', async () => {
    const { id, path } = await makeHook({ types: ['credit_spent'] });
    await db().query('update webhook_cursors set skipped = 7 where webhook_id = $1', [id]);
    await appendCounted(app, tenant, 1);
    await vi.waitFor(() => expect(receiver.received(path).length).toBe(1));
    expect(receiver.received(path)[0]!.event.skipped).toBe(7);
    await vi.waitFor(async () => expect(deliveriesIn((await look(`/${id}`)).text).length).toBe(1));
    const [shown] = deliveriesIn((await look(`/${id}`)).text);
    expect(unescaped((await look(shown!)).text)).toContain(`>${receiver.received(path)[0]!.text}</code>`);
    await db().query("update webhook_deliveries set event_id = 'evt_other' where webhook_id = $1", [id]);
    expect((await look(shown!)).text).toContain('The event is not kept any more');
    await db().query('update webhook_deliveries set signed_at = null where webhook_id = $1', [id]);
    expect((await look(shown!)).text).toContain('The event is not kept any more');
  });

  test('everything since a day is delivered again', async () => {
    const { id, path } = await makeHook({ types: ['credit_spent'] });
    await appendCounted(app, tenant, 2);
    await vi.waitFor(() => expect(receiver.received(path).length).toBe(2));
    const seqs = receiver.received(path).map(({ event }) => event.seq);
    const today = new Date().toISOString().slice(0, 10);
    expect((await post(`/${id}/resend-since`, { since: today })).status).toBe(303);
    await vi.waitFor(() => {
      const all = receiver.received(path).map(({ event }) => event.seq);
      expect(seqs.every((seq) => all.filter((each) => each === seq).length === 2)).toBe(true);
    });
    for (const since of ['', 'yesterday', '2026-02-30']) {
      expect((await post(`/${id}/resend-since`, { since })).status).toBe(400);
    }
  });

  test('what a receiver answers is text', async () => {
    const { id, path } = await makeHook();
    receiver.answer(path, (_received, response) => {
      response.writeHead(500).end('<script>alert(1)</script>\u202e');
      return undefined;
    });
    await post(`/${id}/test`, { form: randomUUID() });
    const { text } = await look(`/${id}`);
    expect(text).toContain('<bdi>&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(text).not.toContain('<script>alert');
  });
});
