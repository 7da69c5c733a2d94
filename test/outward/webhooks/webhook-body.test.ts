/** What requests to webhooks have in each format, one event or several at a time. */
import { createHmac } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { verifyWebhookEvents } from '../../../sdk/typescript/src/backend/index.ts';
import { exactJson } from '../../../src/base/lib/exact-json.ts';
import { newTenantId, parseTenantId, renderTenantId } from '../../../src/base/tenants/tenant.ts';
import { appendEvents } from '../../../src/events/append-events.sql.ts';
import { testEvent } from '../../../src/outward/events/public-event.ts';
import { parseDeliveryId } from '../../../src/outward/webhooks/delivery.ts';
import { getDelivery } from '../../../src/outward/webhooks/get-delivery.ts';
import { WEBHOOK_ORDERS } from '../../../src/outward/webhooks/webhook.ts';
import { LIST_CHARACTERS_MAX, renderBody, takeList } from '../../../src/outward/webhooks/webhook-body.ts';
import { setStatus } from '../../doors/rest/support.ts';
import { eventsOf, FAST_WEBHOOKS, type Received, useReceiver } from '../../support/receiver.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { makeWebhook } from './support.ts';

const app = useService({ webhooks: FAST_WEBHOOKS });
const receiver = useReceiver();
let paths = 0;

const settle = (work: () => void | Promise<void>) => vi.waitFor(work, { timeout: 60_000, interval: 10 });
const count = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

interface Hook {
  readonly of: TestTenant;
  readonly path: string;
  readonly id: string;
  readonly secret: string;
  /** The numbers of the events of each request so far. */
  requests(): number[][];
  ask(method: string, below: string, body?: object): Promise<Record<string, never>>;
}

/** A webhook of a new tenant, at a path of its own. */
async function makeHook(settings: object): Promise<Hook> {
  const of = await app.signUp();
  await setStatus(app, of, 'active');
  const path = `/body-${++paths}`;
  const { id, secret } = await makeWebhook(app, of, receiver.url(path), {
    types: ['credit_spent'],
    ...settings,
  });
  return {
    ...{ of, path, id, secret },
    requests: () => receiver.received(path).map((each) => eventsOf(each).map(({ data }) => numberOf(data))),
    ask: async (method, below, body) =>
      (await app.request(method, `/v1/webhooks/${id}${below}`, { key: of.key, ...(body && { body }) })).json,
  };
}

const numberOf = (data: { balance: { micros: number } }) => data.balance.micros;

/** Appends events with the balances 1, 2 and so on, of these rooms, in one transaction. */
async function append({ of }: Hook, rooms: readonly (string | null)[], from = 1): Promise<void> {
  const id = parseTenantId(of.id)!;
  const made = rooms.map((roomUid, at) => ({
    ...{ type: 'credit_spent', roomUid },
    subject: { balance: String(from + at), admitted: false },
  }));
  await appendEvents(app.service.deps.db, id, made);
  app.service.deps.events.wake(id);
}

/** Events that wait for the webhook until all of them do. */
async function appendWhilePaused(hook: Hook, rooms: readonly (string | null)[]): Promise<void> {
  await hook.ask('PATCH', '', { paused: true });
  await append(hook, rooms);
  await hook.ask('PATCH', '', { paused: false });
}

const arrived = (hook: Hook, upTo: number) =>
  settle(() =>
    expect([...new Set(hook.requests().flat())].toSorted((a, b) => a - b)).toEqual(count(1, upTo)),
  );
const delivered = (hook: Hook, seq: number) =>
  settle(async () => expect(await hook.ask('GET', '')).toMatchObject({ delivered_seq: seq, waiting: 0 }));

/** As a receiver without an SDK checks it. */
function isSigned({ headers, text }: Received, secret: string): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`;
  const expected = `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(expected);
}

describe('several events in a request', () => {
  test.each(WEBHOOK_ORDERS)('order %s: each event once, and each request signed', async (order) => {
    const hook = await makeHook({ order, max_batch: 100 });
    await appendWhilePaused(
      hook,
      count(1, 150).map((at) => `room-${at}`),
    );
    await arrived(hook, 150);
    await delivered(hook, 150);
    const requests = receiver.received(hook.path);
    expect(hook.requests().flat()).toHaveLength(150);
    expect(Math.max(...hook.requests().map((each) => each.length))).toBe(100);
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(requests.length);
    for (const each of requests) {
      expect(each.headers['content-type']).toBe('application/json');
      expect(isSigned(each, hook.secret)).toBe(true);
      const events = verifyWebhookEvents(hook.secret, each.headers, each.text);
      expect(events.map(({ id }) => id)).toEqual(each.event.events.map(({ id }: { id: string }) => id));
    }
  });

  test('by room, no two of one room', async () => {
    const hook = await makeHook({ order: 'room', max_batch: 10 });
    await appendWhilePaused(hook, ['a', 'a', 'b', 'b', 'a', null, null]);
    await arrived(hook, 7);
    const requests = hook.requests();
    expect(requests[0]).toEqual([1, 3, 6]);
    const rooms = [
      [1, 2, 5],
      [3, 4],
      [6, 7],
    ];
    for (const room of rooms) {
      expect(requests.flat().filter((each) => room.includes(each))).toEqual(room);
      for (const each of requests) expect(each.filter((one) => room.includes(one)).length).toBeLessThan(2);
    }
  });

  test('a list of one is a list', async () => {
    const hook = await makeHook({ max_batch: 2 });
    await append(hook, [null]);
    await arrived(hook, 1);
    const [{ event, headers }] = receiver.received(hook.path) as [Received];
    expect(event.events).toHaveLength(1);
    expect(headers['webhook-id']).toMatch(/^evb_[0-9a-f]{32}$/);
  });

  test.each(WEBHOOK_ORDERS)('order %s: an event that is refused holds few others', async (order) => {
    const hook = await makeHook({ order, max_batch: 50 });
    let refusals = 0;
    receiver.answer(hook.path, (received) => {
      const has20 = eventsOf(received).some(({ data }) => numberOf(data) === 20);
      return has20 && ++refusals <= 8 ? 500 : 204;
    });
    await appendWhilePaused(
      hook,
      count(1, 60).map((at) => `room-${at}`),
    );
    await arrived(hook, 60);
    await delivered(hook, 60);
    const with20 = hook.requests().filter((each) => each.includes(20));
    if (order === 'tenant') {
      // After a failure: one, two, four and so on.
      expect(
        hook
          .requests()
          .slice(0, 5)
          .map((each) => each.length),
      ).toEqual([50, 1, 2, 4, 8]);
      const { deliveries } = (await hook.ask('GET', '/deliveries?limit=100')) as never as {
        deliveries: { seq: number; delivered: boolean }[];
      };
      const accepted = deliveries.filter((each) => each.delivered).map(({ seq }) => seq);
      expect(accepted.reverse()).toEqual(count(1, 60));
    } else expect(with20.slice(1).every((each) => each.length === 1)).toBe(true);
  });

  test('a receiver that takes half and fails gets all again, with the same ids', async () => {
    const hook = await makeHook({ max_batch: 10 });
    const taken = new Map<string, number>();
    let isFirst = true;
    receiver.answer(hook.path, (received) => {
      const all: { id: string }[] = received.event.events;
      const half = isFirst ? all.slice(0, 5) : all;
      for (const { id } of half) taken.set(id, (taken.get(id) ?? 0) + 1);
      const status = isFirst ? 500 : 204;
      isFirst = false;
      return status;
    });
    await appendWhilePaused(hook, Array(10).fill(null));
    await delivered(hook, 10);
    expect([...taken.values()]).toEqual([2, 2, 2, 2, 2, 1, 1, 1, 1, 1]);
  });

  test('the size may change while events wait', async () => {
    const hook = await makeHook({ max_batch: 10 });
    await hook.ask('PATCH', '', { paused: true });
    await append(hook, Array(20).fill(null));
    await hook.ask('PATCH', '', { max_batch: 1, format: 'cloudevents' });
    await hook.ask('PATCH', '', { paused: false });
    await delivered(hook, 20);
    const requests = receiver.received(hook.path);
    expect(requests).toHaveLength(20);
    expect(new Set(requests.map(({ headers }) => headers['content-type']))).toEqual(
      new Set(['application/cloudevents+json']),
    );
  });
});

test('a list ends before it is too large for a receiver, and has one event at least', () => {
  const of = (characters: number) => ({ subject: { text: 'x'.repeat(characters) } });
  const small = Array.from({ length: 10 }, () => of(10));
  expect(takeList(small, 7)).toHaveLength(7);
  expect(takeList(small, 100)).toHaveLength(10);
  expect(takeList([of(LIST_CHARACTERS_MAX * 2), ...small], 100)).toHaveLength(1);
  expect(takeList([...small, of(LIST_CHARACTERS_MAX), ...small], 100)).toHaveLength(10);
  expect(takeList([of(LIST_CHARACTERS_MAX)], 1)).toHaveLength(1);
});

test.each(WEBHOOK_ORDERS)('order %s: large events come in several requests', async (order) => {
  const hook = await makeHook({ order, max_batch: 100, types: ['moderation'] });
  await hook.ask('PATCH', '', { paused: true });
  const made = count(1, 10).map((at) => ({
    ...{ type: 'moderation', roomUid: `rm_${at}` },
    subject: {
      ...{ action: 'kick', room: `room-${at}`, roomUid: `rm_${at}`, tracks: [] },
      ...{ reason: 'x'.repeat(60_000), at: new Date() },
    },
  }));
  await appendEvents(app.service.deps.db, parseTenantId(hook.of.id)!, made);
  await hook.ask('PATCH', '', { paused: false });
  await delivered(hook, 10);
  const requests = receiver.received(hook.path);
  expect(requests.flatMap((each) => eventsOf(each).map(({ seq }) => seq)).toSorted((a, b) => a - b)).toEqual(
    count(1, 10),
  );
  for (const { text } of requests) expect(text.length).toBeLessThan(320_000);
});

describe('CloudEvents', () => {
  test('an event', async () => {
    const hook = await makeHook({ format: 'cloudevents' });
    await append(hook, [null]);
    await arrived(hook, 1);
    const [{ event, headers }] = receiver.received(hook.path) as [Received];
    expect(headers['content-type']).toBe('application/cloudevents+json');
    expect(event).toEqual({
      specversion: '1.0',
      id: headers['webhook-id'],
      source: `/tenants/${hook.of.id}`,
      type: 'boxoffice.credit_spent',
      time: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/),
      datacontenttype: 'application/json',
      sequence: '0000000000000000001',
      schemaversion: 1,
      data: { balance: { micros: 1, display: '$0.000001' }, admitted: false },
    });
  });

  test('several are a batch', async () => {
    const hook = await makeHook({ format: 'cloudevents', max_batch: 3 });
    await appendWhilePaused(hook, [null, null, null, null]);
    await arrived(hook, 4);
    const [first] = receiver.received(hook.path) as [Received];
    expect(first.headers['content-type']).toBe('application/cloudevents-batch+json');
    expect(first.event).toHaveLength(3);
    expect(hook.requests()).toEqual([[1, 2, 3], [4]]);
  });

  test('names of members are lower-case letters and digits, and numbers have 32 bits', () => {
    const tenant = newTenantId();
    const event = { ...testEvent('evt_1', new Date()), seq: 2n ** 62n, skipped: 2n ** 40n };
    const { body } = renderBody(tenant, [event], { format: 'cloudevents', isList: false });
    const sent = JSON.parse(body);
    for (const [name, value] of Object.entries(sent)) {
      expect(name).toMatch(/^[a-z0-9]{1,20}$/);
      if (typeof value === 'number') expect(Math.abs(value)).toBeLessThan(2 ** 31);
    }
    expect(sent).toMatchObject({
      source: `/tenants/${renderTenantId(tenant)}`,
      sequence: String(2n ** 62n),
      skipped: String(2n ** 40n),
    });
  });
});

test('a request has the same id only with the same events', () => {
  const tenant = newTenantId();
  const [a, b] = ['evt_a', 'evt_b'].map((id) => testEvent(id, new Date(0)));
  const idOf = (...events: unknown[]) =>
    renderBody(tenant, events as never, { format: 'boxoffice', isList: true }).id;
  expect(idOf(a, b)).toBe(idOf(a, b));
  expect(new Set([idOf(a), idOf(b), idOf(a, b), idOf(b, a)]).size).toBe(4);
  expect(JSON.parse(exactJson(a)).seq).toBe(0);
});

describe.each([
  { format: 'boxoffice', max_batch: 1 },
  { format: 'boxoffice', max_batch: 5 },
  { format: 'cloudevents', max_batch: 1 },
  { format: 'cloudevents', max_batch: 5 },
])('$format, $max_batch at a time', (settings) => {
  test('the log has each request as it arrived', async () => {
    const hook = await makeHook(settings);
    await appendWhilePaused(hook, [null, null, null]);
    await arrived(hook, 3);
    await delivered(hook, 3);
    await hook.ask('POST', '/test', {});
    await hook.ask('POST', '/resend', { seq: 2 });
    // What is asked for later has another form.
    await hook.ask('PATCH', '', { format: 'boxoffice', max_batch: 1 });
    const { deliveries } = (await hook.ask('GET', '/deliveries')) as never as {
      deliveries: { id: string; kind: string; batch_id?: string; event_id: string }[];
    };
    expect(deliveries.map(({ kind }) => kind)).toEqual(['resend', 'test', 'event', 'event', 'event']);
    for (const { id, batch_id, event_id } of deliveries) {
      const { deps } = app.service;
      const shown = await getDelivery(deps, parseTenantId(hook.of.id)!, hook.id, parseDeliveryId(id)!);
      const { headers: told, body } = shown.request!;
      const sent = receiver
        .received(hook.path)
        .find(({ headers }) => headers['webhook-signature'] === told['webhook-signature'])!;
      expect(sent.text).toBe(body);
      expect(sent.headers).toMatchObject(told);
      expect(sent.headers['webhook-id']).toBe(batch_id ?? event_id);
      expect(batch_id === undefined).toBe(settings.max_batch === 1);
    }
  });
});
