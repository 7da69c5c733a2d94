import { createHmac } from 'node:crypto';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { numberEvents } from '../../../src/events/number-events.ts';
import { findDueWebhooks } from '../../../src/outward/webhooks/webhook-cursors.sql.ts';
import { setStatus } from '../../doors/rest/support.ts';
import { FAST_WEBHOOKS, useReceiver } from '../../support/receiver.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { appendCounted, makeWebhook } from './support.ts';

const app = useService({ webhooks: FAST_WEBHOOKS });
const receiver = useReceiver();
let tenant: TestTenant;
let paths = 0;

beforeAll(async () => {
  tenant = await app.signUp();
});

const newPath = () => `/hook-${++paths}`;
const db = () => app.service.deps.db;
const show = async (id: string, key = tenant.key) =>
  (await app.request('GET', `/v1/webhooks/${id}`, { key })).json;
const change = (id: string, body: object, key = tenant.key) =>
  app.request('PATCH', `/v1/webhooks/${id}`, { key, body });
const balances = (path: string) =>
  receiver
    .received(path)
    .filter(({ event }) => event.type === 'credit_spent')
    .map(({ event }) => event.data.balance.micros);
const count = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);
const settle = (work: () => void | Promise<void>) => vi.waitFor(work, { timeout: 60_000, interval: 20 });

describe('in order', () => {
  test('each event from the creation on, once', async () => {
    const fresh = await app.signUp();
    await appendCounted(app, fresh, 3, 1);
    const path = newPath();
    const { id } = await makeWebhook(app, fresh, receiver.url(path));
    await appendCounted(app, fresh, 50, 4);
    await settle(() => expect(balances(path)).toEqual(count(4, 53)));
    await settle(async () => expect((await show(id, fresh.key)).delivered_seq).toBe(53));
    expect(receiver.received(path).map(({ event }) => event.seq)).toEqual(count(4, 53));
  });

  test('as the standard says: id, time and signature over the body', async () => {
    const path = newPath();
    const fresh = await app.signUp();
    const { secret } = await makeWebhook(app, fresh, receiver.url(path));
    await appendCounted(app, fresh, 1, -5);
    await settle(() => expect(receiver.received(path)).toHaveLength(1));
    const { headers, text, event } = receiver.received(path)[0]!;
    expect(event).toStrictEqual({
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      seq: 1,
      type: 'credit_spent',
      schema_version: 1,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: { balance: { micros: -5, display: '-$0.000005' }, admitted: false },
    });
    expect(headers['webhook-id']).toBe(event.id);
    const signed = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update(`${event.id}.${headers['webhook-timestamp']}.${text}`)
      .digest('base64');
    expect(String(headers['webhook-signature']).split(' ')).toContain(`v1,${signed}`);
  });

  test('only the wanted types; its place moves past the others', async () => {
    const fresh = await app.signUp();
    const path = newPath();
    const { id } = await makeWebhook(app, fresh, receiver.url(path), { types: ['key_created'] });
    await appendCounted(app, fresh, 5);
    await app.request('POST', '/v1/keys', { key: fresh.key, body: { name: 'one' } });
    await appendCounted(app, fresh, 5);
    await settle(async () => expect((await show(id, fresh.key)).delivered_seq).toBe(11));
    expect(receiver.received(path).map(({ event }) => [event.type, event.seq])).toEqual([['key_created', 6]]);
  });

  test('two webhooks of a tenant each get every event, with the same id', async () => {
    const fresh = await app.signUp();
    const [one, other] = [newPath(), newPath()];
    for (const path of [one, other]) await makeWebhook(app, fresh, receiver.url(path));
    await appendCounted(app, fresh, 3);
    await settle(() => expect([balances(one), balances(other)]).toEqual([count(1, 3), count(1, 3)]));
    const ids = (path: string) => receiver.received(path).map(({ event }) => event.id);
    expect(ids(one)).toEqual(ids(other));
    expect(new Set(ids(one)).size).toBe(3);
  });

  test('after a rotation, both secrets sign until the overlap ends', async () => {
    const fresh = await app.signUp();
    const path = newPath();
    const { id } = await makeWebhook(app, fresh, receiver.url(path));
    const signatures = async (from: number) => {
      const before = receiver.received(path).length;
      await appendCounted(app, fresh, 1, from);
      await settle(() => expect(receiver.received(path)).toHaveLength(before + 1));
      return String(receiver.received(path).at(-1)!.headers['webhook-signature']).split(' ').length;
    };
    const rotate = (overlap_seconds: number) =>
      app.request('POST', `/v1/webhooks/${id}/rotate`, { key: fresh.key, body: { overlap_seconds } });
    expect(await signatures(1)).toBe(2);
    expect((await rotate(60)).status).toBe(201);
    expect(await signatures(2)).toBe(4);
    expect((await rotate(0)).status).toBe(201);
    expect(await signatures(3)).toBe(2);
  });
});

describe('failures', () => {
  test('the same event is sent again, and later events wait', async () => {
    const fresh = await app.signUp();
    const path = newPath();
    let refusals = 3;
    receiver.answer(path, ({ event }) => (event.seq === 2 && refusals-- > 0 ? 500 : 200));
    const { id } = await makeWebhook(app, fresh, receiver.url(path));
    await appendCounted(app, fresh, 3);
    await settle(() =>
      expect(receiver.received(path).map(({ event }) => event.seq)).toEqual([1, 2, 2, 2, 2, 3]),
    );
    const { deliveries } = (await app.request('GET', `/v1/webhooks/${id}/deliveries`, { key: fresh.key }))
      .json;
    await settle(async () => expect((await show(id, fresh.key)).failures).toBe(0));
    const told = deliveries.map((each: Record<string, unknown>) => [
      each.seq,
      each.attempt,
      each.status,
      each.delivered,
    ]);
    expect(told.reverse().slice(0, 5)).toEqual([
      [1, 1, 200, true],
      [2, 1, 500, false],
      [2, 2, 500, false],
      [2, 3, 500, false],
      [2, 4, 200, true],
    ]);
    expect(deliveries.find((each: { status: number }) => each.status === 500).answer).toBe('status 500');
  });

  test('after the last attempt it is paused, and the log has an event of that; it goes on at the same event', async () => {
    const fresh = await app.signUp();
    const path = newPath();
    receiver.answer(path, () => 503);
    const { id } = await makeWebhook(app, fresh, receiver.url(path), { description: 'a test' });
    await appendCounted(app, fresh, 2);
    await settle(async () =>
      expect(await show(id, fresh.key)).toMatchObject({
        state: 'paused',
        paused_by: 'failing',
        failures: 10,
        delivered_seq: 0,
      }),
    );
    expect(receiver.received(path)).toHaveLength(10);
    const { events } = (await app.request('GET', '/v1/events?types=webhook_paused', { key: fresh.key })).json;
    expect(events.map((each: { data: unknown }) => each.data)).toEqual([
      {
        webhook_id: id,
        host: new URL(receiver.url()).host,
        description: 'a test',
        reason: 'failing',
        seq: 1,
        attempts: 10,
        status: 503,
      },
    ]);
    receiver.answer(path, () => 200);
    expect((await change(id, { paused: false }, fresh.key)).json).toMatchObject({
      state: 'active',
      failures: 10,
    });
    await settle(() =>
      expect(
        receiver
          .received(path)
          .slice(10)
          .map(({ event }) => event.seq),
      ).toEqual([1, 2, 3]),
    );
  });

  test('resuming forgets no failure: one attempt at once, in the slow lane, and then the next wait', async () => {
    const fresh = await app.signUp();
    const path = newPath();
    receiver.answer(path, (_received, response) => {
      response.writeHead(503, { 'retry-after': '3600' }).end();
      return undefined;
    });
    const { id } = await makeWebhook(app, fresh, receiver.url(path));
    await appendCounted(app, fresh, 1);
    for (let failures = 1; failures < 4; failures += 1) {
      await settle(async () => expect((await show(id, fresh.key)).failures).toBe(failures));
      await change(id, { paused: true }, fresh.key);
      const resumed = (await change(id, { paused: false }, fresh.key)).json;
      expect(resumed).toMatchObject({ state: 'active', failures });
      const { rows } = await db().query('select standing from webhook_cursors where webhook_id = $1', [id]);
      expect(rows[0].standing).toBeLessThan(0);
    }
    await settle(async () => expect((await show(id, fresh.key)).failures).toBe(4));
    receiver.answer(path, () => 204);
    await change(id, { paused: false }, fresh.key);
    await settle(async () => expect((await show(id, fresh.key)).failures).toBe(0));
  });

  test('after the last attempt, resuming is good for one more', async () => {
    const fresh = await app.signUp();
    const path = newPath();
    receiver.answer(path, () => 503);
    const { id } = await makeWebhook(app, fresh, receiver.url(path));
    await appendCounted(app, fresh, 1);
    const isPaused = (failures: number) =>
      settle(async () => expect(await show(id, fresh.key)).toMatchObject({ state: 'paused', failures }));
    await isPaused(10);
    await change(id, { paused: false }, fresh.key);
    await isPaused(11);
  });

  test('going back or another url forgets no failure', async () => {
    const fresh = await app.signUp();
    const path = newPath();
    receiver.answer(path, (_received, response) => {
      response.writeHead(503, { 'retry-after': '3600' }).end();
      return undefined;
    });
    const { id } = await makeWebhook(app, fresh, receiver.url(path));
    await appendCounted(app, fresh, 1);
    const haveFailed = (failures: number) =>
      settle(async () => expect((await show(id, fresh.key)).failures).toBe(failures));
    await haveFailed(1);
    const since = '2020-01-01T00:00:00Z';
    await app.request('POST', `/v1/webhooks/${id}/resend`, { key: fresh.key, body: { since } });
    await haveFailed(2);
    await change(id, { url: `${receiver.url(path)}?again` }, fresh.key);
    receiver.answer(`${path}?again`, () => 204);
    await haveFailed(0);
  });

  test('410 pauses it at once', async () => {
    const fresh = await app.signUp();
    const path = newPath();
    receiver.answer(path, () => 410);
    const { id } = await makeWebhook(app, fresh, receiver.url(path));
    await appendCounted(app, fresh, 1);
    await settle(async () =>
      expect(await show(id, fresh.key)).toMatchObject({ state: 'paused', paused_by: 'gone', failures: 1 }),
    );
    expect(receiver.received(path)).toHaveLength(1);
  });

  test('Retry-After puts the next attempt off', async () => {
    const fresh = await app.signUp();
    const path = newPath();
    receiver.answer(path, (_received, response) => {
      response.writeHead(429, { 'retry-after': '3600' }).end();
      return undefined;
    });
    const { id } = await makeWebhook(app, fresh, receiver.url(path));
    await appendCounted(app, fresh, 1);
    await settle(async () => expect((await show(id, fresh.key)).failures).toBe(1));
    const wait = Date.parse((await show(id, fresh.key)).retry_at) - Date.now();
    expect(wait).toBeGreaterThan(3_500_000);
    expect(wait).toBeLessThanOrEqual(3_600_000);
  });

  test('another url is tried at once', async () => {
    const fresh = await app.signUp();
    const [broken, whole] = [newPath(), newPath()];
    receiver.answer(broken, (_received, response) => {
      response.writeHead(503, { 'retry-after': '3600' }).end();
      return undefined;
    });
    const { id } = await makeWebhook(app, fresh, receiver.url(broken));
    await appendCounted(app, fresh, 1);
    await settle(async () => expect((await show(id, fresh.key)).failures).toBe(1));
    await change(id, { url: receiver.url(whole) }, fresh.key);
    await settle(() => expect(balances(whole)).toEqual([1]));
  });

  test('receivers that never answer delay no other tenant', async () => {
    const [slow, quick] = [await app.signUp(), await app.signUp()];
    const [hanging, path] = [newPath(), newPath()];
    receiver.answer(hanging, () => undefined);
    for (let made = 0; made < 8; made += 1) await makeWebhook(app, slow, receiver.url(hanging));
    await makeWebhook(app, quick, receiver.url(path));
    await appendCounted(app, slow, 3);
    await settle(() => expect(receiver.received(hanging).length).toBeGreaterThan(0));
    await appendCounted(app, quick, 20);
    await settle(() => expect(balances(path)).toEqual(count(1, 20)));
  });
});

describe('places', () => {
  test('events that were deleted before they could be delivered are counted in the next delivery', async () => {
    const fresh = await app.signUp();
    const path = newPath();
    const { id } = await makeWebhook(app, fresh, receiver.url(path));
    await change(id, { paused: true }, fresh.key);
    await appendCounted(app, fresh, 5);
    await app.request('GET', '/v1/events', { key: fresh.key });
    await db().query('delete from events where tenant_id = $1 and seq <= 3', [idOf(fresh)]);
    receiver.answer(path, ({ event }) =>
      event.seq === 4 && receiver.received(path).length === 1 ? 500 : 200,
    );
    await change(id, { paused: false }, fresh.key);
    await settle(() => expect(receiver.received(path)).toHaveLength(3));
    const told = receiver.received(path).map(({ event }) => [event.seq, event.skipped]);
    expect(told).toEqual([
      [4, 3],
      [4, 3],
      [5, undefined],
    ]);
  });

  test('with since, it gets what it has got again', async () => {
    const fresh = await app.signUp();
    const path = newPath();
    const { id } = await makeWebhook(app, fresh, receiver.url(path));
    await appendCounted(app, fresh, 2);
    await settle(() => expect(balances(path)).toEqual([1, 2]));
    await appendCounted(app, fresh, 2, 3);
    await settle(async () => expect((await show(id, fresh.key)).delivered_seq).toBe(4));
    const since = receiver.received(path)[2]!.event.timestamp;
    const again = await app.request('POST', `/v1/webhooks/${id}/resend`, { key: fresh.key, body: { since } });
    expect(again.json.webhook.delivered_seq).toBe(2);
    await settle(() => expect(balances(path)).toEqual([1, 2, 3, 4, 3, 4]));
  });

  test.each([
    ['suspended', true],
    ['archived', true],
    ['deleted', false],
  ] as const)('of a tenant that is %s, events are delivered: %s', async (status, isDelivered) => {
    const fresh = await app.signUp();
    const path = newPath();
    await makeWebhook(app, fresh, receiver.url(path));
    await setStatus(app, fresh, status);
    await appendCounted(app, fresh, 1);
    await numberEvents(db(), [idOf(fresh)]);
    if (isDelivered) await settle(() => expect(balances(path)).toEqual([1]));
    else expect(await findDueWebhooks(db(), [idOf(fresh)], { limit: 10, gone: [] })).toEqual([]);
  });

  test('a lease keeps other processes away, until it ends', async () => {
    const fresh = await app.signUp();
    const path = newPath();
    const { id } = await makeWebhook(app, fresh, receiver.url(path));
    await db().query(
      `update webhook_cursors set lease = 'le_of_another', leased_until = now() + interval '1 hour' where webhook_id = $1`,
      [id],
    );
    const witness = newPath();
    await makeWebhook(app, fresh, receiver.url(witness));
    await appendCounted(app, fresh, 1);
    await settle(() => expect(balances(witness)).toEqual([1]));
    expect(receiver.received(path)).toEqual([]);
    await db().query('update webhook_cursors set leased_until = now() where webhook_id = $1', [id]);
    await settle(() => expect(balances(path)).toEqual([1]));
  });
});
