/** Webhooks whose events are sent side by side: by room, and in no order. */
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { appendEvents } from '../../../src/events/append-events.sql.ts';
import type { WebhookOrder } from '../../../src/outward/webhooks/webhook.ts';
import { setStatus } from '../../doors/rest/support.ts';
import { FAST_WEBHOOKS, type Received, useReceiver } from '../../support/receiver.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import {
  appendCounted,
  countRefused,
  endTheHour,
  makeWebhook,
  numberOf,
  refuseForAnHour,
} from './support.ts';

/** A request may take longer than a second, so that it is late. */
const PATIENT = {
  rules: { ...FAST_WEBHOOKS.rules!, leaseSeconds: 5 },
  times: { ...FAST_WEBHOOKS.times!, answer: 4_000 },
};

const app = useService({ webhooks: PATIENT });
const receiver = useReceiver();
let tenant: TestTenant;
let paths = 0;
let path: string;
const ORDERS = ['tenant', 'room', 'none'] as const;
const SIDE_BY_SIDE = ['room', 'none'] as const;

beforeAll(async () => {
  tenant = await app.signUp();
});

const db = () => app.service.deps.db;
const settle = (work: () => void | Promise<void>) => vi.waitFor(work, { timeout: 60_000, interval: 10 });
const count = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

interface Hook {
  readonly id: string;
  readonly of: TestTenant;
  show(): Promise<Record<string, never> & { waiting: number; delivered_seq: number }>;
  change(body: object): Promise<unknown>;
  deliveries(): Promise<Record<string, unknown>[]>;
}

/** A webhook of a new tenant at a path of its own, which is then `path`. */
async function makeHook(order: WebhookOrder, more: object = {}): Promise<Hook> {
  const of = await app.signUp();
  await setStatus(app, of, 'active');
  path = `/of-${++paths}`;
  const { id } = await makeWebhook(app, of, receiver.url(path), { order, types: ['credit_spent'], ...more });
  return hookOf(of, id);
}

function hookOf(of: TestTenant, id: string): Hook {
  const ask = async (method: string, below: string, body?: object) =>
    (await app.request(method, `/v1/webhooks/${id}${below}`, { key: of.key, ...(body && { body }) })).json;
  return {
    id,
    of,
    show: () => ask('GET', ''),
    change: (body) => ask('PATCH', '', body),
    deliveries: async () => (await ask('GET', '/deliveries?limit=100')).deliveries,
  };
}

/** Appends events of these rooms; the balances count from `from`. */
async function append(of: TestTenant, rooms: readonly (string | null)[], from = 1): Promise<void> {
  const { events } = app.service.deps;
  const id = parseTenantId(of.id)!;
  const made = rooms.map((roomUid, at) => ({
    type: 'credit_spent',
    roomUid,
    subject: { balance: String(from + at), admitted: false },
  }));
  await appendEvents(db(), id, made);
  events.wake(id);
}

const numbers = () => receiver.received(path).map(numberOf);
const firsts = () => [...new Set(numbers())];
const allArrived = (upTo: number) =>
  settle(() => expect(firsts().toSorted((a, b) => a - b)).toEqual(count(1, upTo)));
const allDelivered = (hook: Hook) =>
  settle(async () => expect(await hook.show()).toMatchObject({ waiting: 0, failures: 0 }));

/** Holds answers back until they are let go. */
function hold(which: (received: Received) => boolean) {
  const held: (() => void)[] = [];
  receiver.answer(path, (received, response) => {
    if (!which(received)) return 204;
    held.push(() => void (response.headersSent || response.writeHead(204).end()));
    return undefined;
  });
  return held;
}

describe('side by side', () => {
  test('as many requests are under way as the webhook allows', async () => {
    const { of } = await makeHook('none', { max_in_flight: 3 });
    const held = hold(() => true);
    await append(of, Array(10).fill(null));
    await settle(() => expect(held).toHaveLength(3));
    held[1]!();
    await settle(() => expect(held).toHaveLength(4));
    expect(numbers()).toEqual([1, 2, 3, 4]);
    receiver.answer(path, () => 204);
    for (const answer of held) answer();
    await allArrived(10);
  });

  test('by room, one of each room, and those without a room one after the other', async () => {
    const { of } = await makeHook('room', { max_in_flight: 10 });
    const held = hold(() => true);
    await append(of, ['a', 'a', 'b', null, null, 'b', 'c']);
    await settle(() => expect(held).toHaveLength(4));
    expect(numbers()).toEqual([1, 3, 4, 7]);
    held[1]!();
    await settle(() => expect(numbers()).toEqual([1, 3, 4, 7, 6]));
    held[2]!();
    await settle(() => expect(numbers()).toEqual([1, 3, 4, 7, 6, 5]));
    receiver.answer(path, () => 204);
    for (const answer of held) answer();
    await allArrived(7);
  });

  test.each(SIDE_BY_SIDE)('order %s: answers that come in another order lose nothing', async (order) => {
    const hook = await makeHook(order, { max_in_flight: 5 });
    const answers: (() => void)[] = [];
    receiver.answer(path, (_received, response) => {
      answers.push(() => response.writeHead(204).end());
      // The newest first.
      if (answers.length >= 3) for (const answer of answers.splice(0).reverse()) answer();
      else setTimeout(() => answers.splice(0).forEach((answer) => void answer()), 100);
      return undefined;
    });
    await append(
      hook.of,
      count(1, 40).map((at) => `r${at % 5}`),
    );
    await allArrived(40);
    await settle(async () => expect((await hook.show()).delivered_seq).toBe(40));
    expect(numbers()).toHaveLength(40);
  });

  test('ten thousand rooms', { timeout: 180_000 }, async () => {
    const hook = await makeHook('room', { max_in_flight: 20 });
    for (let from = 1; from <= 10_000; from += 1_000) {
      await append(
        hook.of,
        count(from, from + 999).map((at) => `room-${at}`),
        from,
      );
    }
    await vi.waitFor(async () => expect((await hook.show()).delivered_seq).toBe(10_000), {
      timeout: 150_000,
      interval: 100,
    });
    expect(new Set(numbers()).size).toBe(10_000);
    expect(await hook.show()).toMatchObject({ waiting: 0 });
  });

  test('at most so many in a second', async () => {
    const hook = await makeHook('none', { max_in_flight: 20, max_per_second: 20 });
    const startedAt = performance.now();
    await append(hook.of, Array(31).fill(null));
    await allArrived(31);
    // 31 have 30 distances of 50 ms.
    expect(performance.now() - startedAt).toBeGreaterThan(1_450);
  });

  test('in the order of the tenant too', async () => {
    const hook = await makeHook('tenant', { max_per_second: 20 });
    const startedAt = performance.now();
    await append(hook.of, Array(21).fill(null));
    await allArrived(21);
    expect(performance.now() - startedAt).toBeGreaterThan(950);
  });
});

describe('one event that is always refused', () => {
  const refuse = (number: number, status = 500) =>
    receiver.answer(path, (received) => (numberOf(received) === number ? status : 204));
  /** An event that is accepted afterwards shows that the fault is not the receiver's. */
  const isRefused = ({ of, id }: Hook) =>
    settle(async () => expect(await countRefused(db(), of, id)).toBe(1));
  const goOn = ({ of, id }: Hook) => settle(async () => expect(await endTheHour(db(), of, id)).toBe(1));

  test('in no order keeps no other, and is given up after its last attempt', async () => {
    const hook = await makeHook('none');
    refuseForAnHour(receiver, path, [2]);
    await append(hook.of, ['a', 'a', 'a', 'b']);
    await settle(() => expect(firsts().toSorted()).toEqual([1, 2, 3, 4]));
    await settle(async () => expect(await hook.show()).toMatchObject({ delivered_seq: 4, waiting: 1 }));
    await isRefused(hook);
    await append(hook.of, ['a'], 5);
    await goOn(hook);
    await settle(async () => expect(await hook.show()).toMatchObject({ waiting: 0, state: 'active' }));
    const of2 = (await hook.deliveries()).filter(({ seq }) => seq === 2).reverse();
    expect(of2.map(({ kind, attempt, gave_up }) => [kind, attempt, gave_up])).toEqual([
      ['event', 1, false],
      ...count(2, 9).map((attempt) => ['aside', attempt, false]),
      ['aside', 10, true],
    ]);
    expect(numbers().filter((each) => each !== 2)).toEqual([1, 3, 4, 5]);
  });

  test('by room keeps those of its room, which go on when it is given up', async () => {
    const hook = await makeHook('room');
    refuseForAnHour(receiver, path, [1]);
    await append(hook.of, ['a', 'b', 'a', 'b', 'a']);
    await settle(() => expect(firsts().toSorted()).toEqual([1, 2, 4]));
    await isRefused(hook);
    await append(hook.of, ['b', 'a'], 6);
    await settle(() => expect(firsts()).toEqual(expect.arrayContaining([6])));
    await goOn(hook);
    await allArrived(7);
    await allDelivered(hook);
    expect(numbers().filter((each) => each === 1)).toHaveLength(10);
    expect(numbers().filter((each) => [3, 5, 7].includes(each))).toEqual([3, 5, 7]);
    // 3 came after the last attempt of 1.
    expect(numbers().indexOf(3)).toBeGreaterThan(numbers().lastIndexOf(1));
  });

  test('by room lets those of its room follow when it is accepted', async () => {
    const hook = await makeHook('room');
    let refusals = 3;
    receiver.answer(path, (received) => (numberOf(received) === 1 && refusals-- > 0 ? 500 : 204));
    await append(hook.of, ['a', 'a', 'b', 'a']);
    await allArrived(4);
    await allDelivered(hook);
    expect(numbers().filter((each) => each !== 3)).toEqual([1, 1, 1, 1, 2, 4]);
  });

  test('in the order of the tenant keeps all others', async () => {
    const hook = await makeHook('tenant');
    refuse(2);
    await append(hook.of, ['a', 'b', 'c']);
    await settle(async () => expect(await hook.show()).toMatchObject({ state: 'paused', delivered_seq: 1 }));
    expect(firsts()).toEqual([1, 2]);
  });

  test.each(SIDE_BY_SIDE)(
    'order %s: a receiver that accepts nothing is paused, and goes on',
    async (order) => {
      const hook = await makeHook(order, { max_in_flight: 4 });
      receiver.answer(path, () => 503);
      await append(hook.of, ['a', 'a', 'b', null, null]);
      await settle(async () =>
        expect(await hook.show()).toMatchObject({ state: 'paused', paused_by: 'failing' }),
      );
      const { events } = (await app.request('GET', '/v1/events?types=webhook_paused', { key: hook.of.key }))
        .json;
      expect(events).toHaveLength(1);
      expect(events[0].data).toMatchObject({ webhook_id: hook.id, reason: 'failing', attempts: 10 });
      receiver.answer(path, () => 204);
      const before = numbers().length;
      await hook.change({ paused: false });
      await settle(() => expect(new Set(numbers().slice(before)).size).toBe(5));
      await allDelivered(hook);
      const again = numbers().slice(before);
      expect(again).toHaveLength(5);
      if (order === 'room') expect(again.indexOf(2)).toBeGreaterThan(again.indexOf(1));
    },
  );

  test('410 pauses it at once, and the event comes again when it goes on', async () => {
    const hook = await makeHook('none', { max_in_flight: 1 });
    refuse(2, 410);
    await append(hook.of, ['a', 'a']);
    await settle(async () => expect(await hook.show()).toMatchObject({ state: 'paused', paused_by: 'gone' }));
    expect(numbers()).toEqual([1, 2]);
    receiver.answer(path, () => 204);
    await hook.change({ paused: false });
    await allDelivered(hook);
    await settle(() => expect(numbers()).toEqual([1, 2, 2]));
  });

  test('a receiver that is away for a moment gets few attempts, one at a time', async () => {
    const hook = await makeHook('none', { max_in_flight: 20 });
    receiver.answer(path, () => 503);
    await append(hook.of, Array(200).fill('a'));
    await settle(async () =>
      expect((await hook.show()) as unknown).toMatchObject({ failures: expect.any(Number) }),
    );
    await settle(() => expect(numbers().length).toBeGreaterThan(5));
    // Twenty at once had begun, and each rest lets one more through.
    expect(numbers().length).toBeLessThan(60);
    receiver.answer(path, () => 204);
    // A busy machine may have made ten attempts by now.
    await hook.change({ paused: false });
    await allArrived(200);
    await allDelivered(hook);
  });
});

describe('a request that takes more than a second', () => {
  test('lets the place move on, and is noted when it ends', async () => {
    const hook = await makeHook('none', { max_in_flight: 3 });
    const held = hold((received) => numberOf(received) === 1);
    await append(hook.of, ['a', 'b', 'c', 'd']);
    await settle(async () => expect(await hook.show()).toMatchObject({ delivered_seq: 4, waiting: 1 }));
    for (const answer of held) answer();
    await settle(async () => expect(await hook.show()).toMatchObject({ waiting: 0 }));
    expect(numbers()).toEqual([1, 2, 3, 4]);
    const of1 = (await hook.deliveries()).filter(({ seq }) => seq === 1);
    expect(of1).toMatchObject([{ kind: 'event', attempt: 1, delivered: true }]);
  });

  test('by room keeps its room, which goes on when it ends', async () => {
    const hook = await makeHook('room', { max_in_flight: 3 });
    const held = hold((received) => numberOf(received) === 1);
    await append(hook.of, ['a', 'a', 'b', 'b']);
    await settle(async () => expect(await hook.show()).toMatchObject({ delivered_seq: 4, waiting: 2 }));
    expect(numbers()).toEqual([1, 3, 4]);
    for (const answer of held) answer();
    await allDelivered(hook);
    expect(numbers()).toEqual([1, 3, 4, 2]);
  });

  test('counts as one of those that may be under way, also after its turn', async () => {
    const hook = await makeHook('none', { max_in_flight: 2 });
    const held = hold((received) => numberOf(received) < 3);
    await append(hook.of, ['a', 'b', 'c', 'd']);
    await settle(async () => expect(await hook.show()).toMatchObject({ delivered_seq: 2, waiting: 2 }));
    expect(numbers()).toEqual([1, 2]);
    for (const answer of held) answer();
    await allArrived(4);
    expect(numbers()).toHaveLength(4);
  });

  test('an answer after the time-out comes too late: the event comes again, with its id', async () => {
    const hook = await makeHook('none');
    const late: (() => void)[] = [];
    receiver.answer(path, (received, response) => {
      if (numberOf(received) !== 1 || late.length > 0) return 204;
      late.push(() => response.writeHead(204).end());
      return undefined;
    });
    await append(hook.of, ['a', 'b']);
    await settle(() => expect(numbers().filter((each) => each === 1)).toHaveLength(2));
    for (const answer of late) answer();
    await allDelivered(hook);
    const ids = receiver.received(path).map(({ event }) => event.id);
    expect(new Set(ids).size).toBe(2);
  });
});

describe('changes', () => {
  test.each(ORDERS.flatMap((from) => ORDERS.filter((to) => to !== from).map((to) => [from, to] as const)))(
    'from %s to %s while events are under way: nothing is lost, and what comes twice has its id',
    async (from, to) => {
      const hook = await makeHook(from, { max_in_flight: 8 });
      let seen = 0;
      receiver.answer(path, (_received, response) => {
        seen += 1;
        if (seen % 7 === 0) return 500;
        setTimeout(() => response.writeHead(204).end(), seen % 3);
        return undefined;
      });
      await append(
        hook.of,
        count(1, 150).map((at) => `r${at % 6}`),
      );
      await settle(() => expect(numbers().length).toBeGreaterThan(from === 'tenant' ? 3 : 30));
      await hook.change({ order: to });
      await append(
        hook.of,
        count(151, 200).map((at) => `r${at % 6}`),
        151,
      );
      await settle(() => expect(numbers().length).toBeGreaterThan(35));
      receiver.answer(path, () => 204);
      await allArrived(200);
      await allDelivered(hook);
      const ids = new Map(receiver.received(path).map((each) => [numberOf(each), each.event.id]));
      for (const each of receiver.received(path)) expect(each.event.id).toBe(ids.get(numberOf(each)));
      await settle(async () => expect((await hook.show()).delivered_seq).toBe(200));
    },
  );

  test('to the order of the tenant: what was put aside comes first, the oldest first, and the log says so', async () => {
    const hook = await makeHook('none');
    receiver.answer(path, (received, response) => {
      if (![2, 4].includes(numberOf(received))) return 204;
      response.writeHead(503, { 'retry-after': '3600' }).end();
      return undefined;
    });
    await append(hook.of, Array(5).fill('a'));
    await settle(async () => expect(await hook.show()).toMatchObject({ waiting: 2, delivered_seq: 5 }));
    await hook.change({ paused: true });
    await append(hook.of, ['a', 'a'], 6);
    const before = numbers().length;
    receiver.answer(path, () => 204);
    await hook.change({ order: 'tenant', paused: false });
    await settle(() => expect(numbers().slice(before)).toEqual([2, 4, 6, 7]));
    await allDelivered(hook);
    const told = (await hook.deliveries()).slice(0, 4).reverse();
    expect(told.map(({ kind, seq }) => [kind, seq])).toEqual([
      ['aside', 2],
      ['aside', 4],
      ['event', 6],
      ['event', 7],
    ]);
  });

  test('to the order of the tenant: one that is put aside and still refused holds the others', async () => {
    const hook = await makeHook('none');
    refuseForAnHour(receiver, path, [1]);
    await append(hook.of, ['a', 'a']);
    await settle(async () => expect(await hook.show()).toMatchObject({ waiting: 1, delivered_seq: 2 }));
    await hook.change({ order: 'tenant' });
    await append(hook.of, ['a'], 3);
    await settle(async () => expect(await hook.show()).toMatchObject({ state: 'paused', waiting: 1 }));
    expect(firsts().toSorted()).toEqual([1, 2]);
    receiver.answer(path, () => 204);
    await hook.change({ paused: false });
    await settle(() => expect(numbers().slice(-2)).toEqual([1, 3]));
  });

  test('back in the log: what was put aside comes once', async () => {
    const hook = await makeHook('none');
    receiver.answer(path, (received, response) => {
      if (numberOf(received) !== 2) return 204;
      response.writeHead(503, { 'retry-after': '3600' }).end();
      return undefined;
    });
    await append(hook.of, ['a', 'b', 'c']);
    await settle(async () => expect(await hook.show()).toMatchObject({ waiting: 1, delivered_seq: 3 }));
    receiver.answer(path, () => 204);
    const before = numbers().length;
    await app.request('POST', `/v1/webhooks/${hook.id}/resend`, {
      key: hook.of.key,
      body: { since: '2020-01-01T00:00:00Z' },
    });
    await settle(() => expect(numbers().slice(before).toSorted()).toEqual([1, 2, 3]));
    await allDelivered(hook);
    expect(numbers()).toHaveLength(before + 3);
  });

  test('another url gets what was put aside at once', async () => {
    const hook = await makeHook('room');
    receiver.answer(path, (_received, response) => {
      response.writeHead(503, { 'retry-after': '3600' }).end();
      return undefined;
    });
    await append(hook.of, ['a', 'a', 'b']);
    await settle(async () => expect((await hook.show()).waiting).toBeGreaterThan(0));
    path = `/of-${++paths}`;
    await hook.change({ url: receiver.url(path) });
    await allArrived(3);
    await allDelivered(hook);
    expect(numbers().filter((each) => each < 3)).toEqual([1, 2]);
  });

  test('an event that is put aside and deleted is counted in a later delivery', async () => {
    const hook = await makeHook('none', { max_in_flight: 1 });
    receiver.answer(path, (_received, response) => {
      response.writeHead(503, { 'retry-after': '3600' }).end();
      return undefined;
    });
    await append(hook.of, ['a']);
    await settle(async () => expect(await hook.show()).toMatchObject({ waiting: 1 }));
    await db().query('delete from events where tenant_id = $1', [parseTenantId(hook.of.id)]);
    receiver.answer(path, () => 204);
    await hook.change({ url: `${receiver.url(path)}?again` });
    path += '?again';
    await settle(async () => expect(await hook.show()).toMatchObject({ waiting: 0 }));
    await append(hook.of, ['a'], 2);
    await settle(() => expect(receiver.received(path).map(({ event }) => event.skipped)).toEqual([1]));
  });

  test('deleting it deletes what is put aside', async () => {
    const hook = await makeHook('none');
    receiver.answer(path, () => 500);
    await append(hook.of, ['a']);
    await settle(async () => expect((await hook.show()).waiting).toBe(1));
    await app.request('DELETE', `/v1/webhooks/${hook.id}`, { key: hook.of.key });
    const { rows } = await db().query('select from webhook_waiting where webhook_id = $1', [hook.id]);
    expect(rows).toEqual([]);
  });
});

test('a webhook that says nothing of it has the order of the tenant', async () => {
  const { id } = await makeWebhook(app, tenant, receiver.url('/default'));
  await appendCounted(app, tenant, 1);
  expect(await hookOf(tenant, id).show()).toMatchObject({ order: 'tenant', max_in_flight: 10, waiting: 0 });
});
