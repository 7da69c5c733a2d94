/** Events that a webhook gave up: the list of them, and sending them again. */
import { describe, expect, test, vi } from 'vitest';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { appendEvents } from '../../../src/events/append-events.sql.ts';
import { WAITING_MAX, type WebhookOrder } from '../../../src/outward/webhooks/webhook.ts';
import { setStatus } from '../../doors/rest/support.ts';
import { FAST_WEBHOOKS, useReceiver } from '../../support/receiver.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { endTheHour, makeWebhook, numberOf, refuseForAnHour } from './support.ts';

const app = useService({ webhooks: FAST_WEBHOOKS, makesUpEvents: true });
const receiver = useReceiver();
const EVER = '2020-01-01T00:00:00Z';
let paths = 0;

const db = () => app.service.deps.db;
const settle = (work: () => void | Promise<void>) => vi.waitFor(work, { timeout: 60_000, interval: 20 });

interface Hook {
  readonly of: TestTenant;
  readonly id: string;
  readonly path: string;
  ask(method: string, below: string, body?: object): ReturnType<typeof app.request>;
}

async function makeHook(order: WebhookOrder, more: object = {}): Promise<Hook> {
  const of = await app.signUp();
  await setStatus(app, of, 'active');
  const path = `/dead-${++paths}`;
  const { id } = await makeWebhook(app, of, receiver.url(path), { order, types: ['credit_spent'], ...more });
  const ask = (method: string, below: string, body?: object) =>
    app.request(method, `/v1/webhooks/${id}${below}`, { key: of.key, ...(body && { body }) });
  return { of, id, path, ask };
}

/** Appends events of these rooms; the balances count from `from`. */
async function append({ of }: Hook, rooms: readonly (string | null)[], from = 1): Promise<void> {
  const made = rooms.map((roomUid, at) => ({
    type: 'credit_spent',
    roomUid,
    subject: { balance: String(from + at), admitted: false },
  }));
  await appendEvents(db(), parseTenantId(of.id)!, made);
  app.service.deps.events.wake(parseTenantId(of.id)!);
}

const numbers = ({ path }: Hook) => receiver.received(path).map(numberOf);
const dead = async (hook: Hook) => (await hook.ask('GET', '/dead-letters')).json.dead_letters;
const deadSeqs = async (hook: Hook) => (await dead(hook)).map(({ seq }: { seq: number }) => seq);

/** Appends other events from this number on until the list is as expected. Returns the next number. */
async function othersUntilDead(hook: Hook, expected: readonly number[], from: number): Promise<number> {
  let next = from;
  const work = async () => {
    await append(hook, ['other'], next++);
    await endTheHour(db(), hook.of, hook.id);
    expect(await deadSeqs(hook)).toEqual(expected);
  };
  await vi.waitFor(work, { timeout: 60_000, interval: 200 });
  return next;
}

/** These numbers are refused until they are given up; then all are accepted. */
async function giveUp(
  hook: Hook,
  refused: readonly number[],
  rooms: readonly (string | null)[],
): Promise<void> {
  refuseForAnHour(receiver, hook.path, refused);
  await append(hook, rooms);
  const next = await othersUntilDead(hook, [...refused].reverse(), rooms.length + 1);
  receiver.answer(hook.path, () => 204);
  await settle(async () => {
    expect((await hook.ask('GET', '')).json).toMatchObject({ delivered_seq: next - 1, waiting: 0 });
  });
}

describe('an event that was given up', () => {
  test('is listed with its reason, and leaves the list when it is sent again', async () => {
    const hook = await makeHook('none');
    await giveUp(hook, [2], ['a', 'b', null]);
    // As an event of a room has it, which is not as receivers of this type know it.
    await db().query(
      `update events set subject = subject || '{"room": "lobby"}' where tenant_id = $1 and seq = 2`,
      [idOf(hook.of)],
    );
    expect(await dead(hook)).toStrictEqual([
      {
        event_id: expect.stringMatching(/^evt_/),
        seq: 2,
        type: 'credit_spent',
        room: 'lobby',
        happened_at: expect.any(String),
        attempts: 10,
        reason: 'refused',
        status: 500,
        answer: 'status 500',
        given_up_at: expect.any(String),
      },
    ]);
    await db().query(`update events set subject = subject - 'room' where tenant_id = $1 and seq = 2`, [
      idOf(hook.of),
    ]);
    receiver.answer(hook.path, () => 500);
    expect((await hook.ask('POST', '/resend', { seq: 2 })).json.delivery.delivered).toBe(false);
    expect(await deadSeqs(hook)).toEqual([2]);
    expect((await hook.ask('GET', '')).json.given_up).toBe(1);
    receiver.answer(hook.path, () => 204);
    expect((await hook.ask('POST', '/resend', { seq: 2 })).json.delivery.delivered).toBe(true);
    expect(await dead(hook)).toEqual([]);
    expect((await hook.ask('GET', '')).json.given_up).toBe(0);
  });

  test('comes again with all others since a time, tried as at first, and nothing else does', async () => {
    const hook = await makeHook('none');
    await giveUp(hook, [1, 3], ['a', 'b', null]);
    const before = numbers(hook).length;
    refuseForAnHour(receiver, hook.path, [3]);
    const { json } = await hook.ask('POST', '/resend', { since: EVER, only_failed: true });
    expect(json).toMatchObject({ resent: 2, more: false, webhook: { id: hook.id } });
    await othersUntilDead(hook, [3], 1_000);
    const again = numbers(hook)
      .slice(before)
      .filter((each) => each < 1_000);
    expect(again.filter((each) => each === 1)).toHaveLength(1);
    expect(again.filter((each) => each === 3)).toHaveLength(10);
    expect(again.filter((each) => each === 2)).toEqual([]);
  });

  test('of before the time stays given up', async () => {
    const hook = await makeHook('none');
    await giveUp(hook, [1], ['a']);
    const since = new Date(Date.now() + 60_000).toISOString();
    const { json } = await hook.ask('POST', '/resend', { since, only_failed: true });
    expect(json).toMatchObject({ resent: 0, more: false });
    expect(await deadSeqs(hook)).toEqual([1]);
  });

  test('by room comes one after the other again', async () => {
    const hook = await makeHook('room');
    await giveUp(hook, [1, 2], ['a', 'a', 'b']);
    const before = numbers(hook).length;
    const held: (() => void)[] = [];
    receiver.answer(hook.path, (_received, response) => {
      held.push(() => response.writeHead(204).end());
      return undefined;
    });
    await hook.ask('POST', '/resend', { since: EVER, only_failed: true });
    await settle(() => expect(held).toHaveLength(1));
    expect(numbers(hook).slice(before)).toEqual([1]);
    receiver.answer(hook.path, () => 204);
    held[0]!();
    await settle(() => expect(numbers(hook).slice(before)).toEqual([1, 2]));
    expect(await dead(hook)).toEqual([]);
  });

  test('leaves the list when the webhook goes back to before it', async () => {
    const hook = await makeHook('none');
    await giveUp(hook, [1], ['a']);
    await hook.ask('POST', '/resend', { since: EVER });
    expect(await dead(hook)).toEqual([]);
    await settle(() => expect(numbers(hook).filter((each) => each === 1)).toHaveLength(11));
  });

  test('that is deleted stays listed, and does not come again', async () => {
    const hook = await makeHook('none');
    await giveUp(hook, [1], ['a']);
    await db().query('delete from events where tenant_id = $1 and seq <= 1', [idOf(hook.of)]);
    const { json } = await hook.ask('POST', '/resend', { since: EVER, only_failed: true });
    expect(json).toMatchObject({ resent: 0, more: false });
    const [letter] = await dead(hook);
    expect([letter.seq, letter.happened_at, letter.room]).toEqual([1, undefined, undefined]);
  });
});

test('only so many come again at once as may be put aside', async () => {
  const hook = await makeHook('none');
  await giveUp(hook, [1, 2], ['a', 'b']);
  await hook.ask('PATCH', '', { paused: true });
  await db().query(
    `insert into webhook_waiting (tenant_id, webhook_id, seq, room_uid, retry_at)
     select $1, $2, n + 1000000, '', 'infinity' from generate_series(1, $3::integer - 1) n`,
    [idOf(hook.of), hook.id, WAITING_MAX.paid],
  );
  const { json } = await hook.ask('POST', '/resend', { since: EVER, only_failed: true });
  expect(json).toMatchObject({ resent: 1, more: true, webhook: { waiting: WAITING_MAX.paid } });
  expect(await deadSeqs(hook)).toEqual([2]);
});

test('what is put aside and has failed is tried at once', async () => {
  const hook = await makeHook('none');
  receiver.answer(hook.path, ({ event }, response) => {
    if (event.data.balance.micros !== 1) return 204;
    response.writeHead(500, { 'retry-after': '3600' }).end();
    return undefined;
  });
  await append(hook, ['a', 'b']);
  await settle(async () =>
    expect((await hook.ask('GET', '')).json).toMatchObject({ waiting: 1, delivered_seq: 2 }),
  );
  receiver.answer(hook.path, () => 204);
  const { json } = await hook.ask('POST', '/resend', { since: EVER, only_failed: true });
  expect(json).toMatchObject({ resent: 0, more: false });
  await settle(async () => expect((await hook.ask('GET', '')).json.waiting).toBe(0));
  expect(numbers(hook).filter((each) => each === 1)).toHaveLength(2);
});

describe('an event that is put aside and sent again on request', () => {
  /** Refused, to be tried again in an hour. */
  const refuseFirst = ({ path }: Hook) =>
    receiver.answer(path, ({ event }, response) => {
      if (event.data.balance.micros !== 1) return 204;
      response.writeHead(500, { 'retry-after': '3600' }).end();
      return undefined;
    });
  const shown = async (hook: Hook) => (await hook.ask('GET', '')).json;

  test('is not put aside any more once it was accepted', async () => {
    const hook = await makeHook('none');
    refuseFirst(hook);
    await append(hook, ['a', 'b']);
    await settle(async () => expect(await shown(hook)).toMatchObject({ waiting: 1, delivered_seq: 2 }));
    const inMinutes = (Date.parse((await shown(hook)).waiting_retry_at) - Date.now()) / 60_000;
    expect(inMinutes).toBeGreaterThan(50);
    expect(inMinutes).toBeLessThan(70);
    expect((await hook.ask('POST', '/resend', { seq: 1 })).json.delivery.delivered).toBe(false);
    expect(await shown(hook)).toMatchObject({ waiting: 1 });
    receiver.answer(hook.path, () => 204);
    expect((await hook.ask('POST', '/resend', { seq: 1 })).json.delivery.delivered).toBe(true);
    const after = await shown(hook);
    expect([after.waiting, after.waiting_retry_at]).toEqual([0, undefined]);
    await append(hook, ['a'], 3);
    await settle(() => expect(numbers(hook).at(-1)).toBe(3));
    expect(numbers(hook).filter((each) => each === 1)).toHaveLength(3);
  });

  test('lets the next one of its room go', async () => {
    const hook = await makeHook('room');
    refuseFirst(hook);
    await append(hook, ['a', 'a', 'b']);
    await settle(async () => expect(await shown(hook)).toMatchObject({ waiting: 2, delivered_seq: 3 }));
    receiver.answer(hook.path, () => 204);
    await hook.ask('POST', '/resend', { seq: 1 });
    await settle(async () => expect(await shown(hook)).toMatchObject({ waiting: 0 }));
    expect(numbers(hook).filter((each) => each === 2)).toHaveLength(1);
    await append(hook, ['a'], 4);
    await settle(() => expect(numbers(hook).at(-1)).toBe(4));
  });

  test('has no time while the webhook is paused', async () => {
    const hook = await makeHook('none');
    refuseFirst(hook);
    await append(hook, ['a']);
    await settle(async () => expect(await shown(hook)).toMatchObject({ waiting: 1 }));
    await hook.ask('PATCH', '', { paused: true });
    const paused = await shown(hook);
    expect([paused.waiting, paused.waiting_retry_at]).toEqual([1, undefined]);
  });
});

test('attempts are listed by their outcome, page by page', async () => {
  const hook = await makeHook('none');
  await hook.ask('PATCH', '', { paused: true });
  receiver.answer(hook.path, ({ event }) => (event.data.balance.micros % 2 === 0 ? 204 : 500));
  await append(hook, Array(6).fill(null));
  for (let seq = 1; seq <= 6; seq += 1) await hook.ask('POST', '/resend', { seq });
  const list = async (query: string) => (await hook.ask('GET', `/deliveries${query}`)).json;
  const seqsIn = (page: { deliveries: { seq: number }[] }) => page.deliveries.map(({ seq }) => seq);
  expect(seqsIn(await list(''))).toEqual([6, 5, 4, 3, 2, 1]);
  expect(seqsIn(await list('?outcome=failed'))).toEqual([5, 3, 1]);
  const first = await list('?outcome=delivered&limit=2');
  const rest = await list(`?outcome=delivered&cursor=${encodeURIComponent(first.next_cursor)}`);
  expect([...seqsIn(first), ...seqsIn(rest)]).toEqual([6, 4, 2]);
  expect((await hook.ask('GET', '/deliveries?outcome=lost')).status).toBe(400);
});

test('asked for again and again takes no attempt from an event', async () => {
  const hook = await makeHook('none');
  receiver.answer(hook.path, ({ event }, response) => {
    if (event.data.balance.micros !== 1) return 204;
    response.writeHead(500, { 'retry-after': '3600' }).end();
    return undefined;
  });
  await append(hook, ['a', 'b']);
  for (let times = 1; times <= 12; times += 1) {
    await settle(() => expect(numbers(hook).filter((each) => each === 1)).toHaveLength(times));
    await settle(async () => {
      const { deliveries } = (await hook.ask('GET', '/deliveries?limit=100')).json;
      expect(deliveries.filter(({ seq }: { seq: number }) => seq === 1)).toHaveLength(times);
    });
    await hook.ask('POST', '/resend', { since: EVER, only_failed: true });
  }
  expect(await dead(hook)).toEqual([]);
  expect((await hook.ask('GET', '')).json).toMatchObject({ state: 'active', waiting: 1 });
});

test('after a pause, an event that is always refused does not keep the others', async () => {
  const hook = await makeHook('none');
  await hook.ask('PATCH', '', { paused: true });
  await append(hook, ['a', 'b']);
  const place = [idOf(hook.of), hook.id];
  await settle(async () => {
    const { rows } = await db().query('select max(seq)::text as seq from events where tenant_id = $1', [
      place[0],
    ]);
    expect(rows[0].seq).toBe('2');
  });
  await db().query(
    `insert into webhook_waiting (tenant_id, webhook_id, seq, room_uid, failures, failed_at, retry_at)
     values ($1, $2, 1, 'a', 9, now(), now()), ($1, $2, 2, 'b', 1, now(), now())`,
    place,
  );
  await db().query(
    'update webhook_cursors set seq = 2, failures = 9, aside_at = now() where tenant_id = $1 and webhook_id = $2',
    place,
  );
  // It is put off for an hour, as it would be for a day by the schedule of a service.
  receiver.answer(hook.path, ({ event }, response) => {
    if (event.data.balance.micros !== 1) return 204;
    response.writeHead(422, { 'retry-after': '3600' }).end();
    return undefined;
  });
  await hook.ask('PATCH', '', { paused: false });
  await settle(async () => expect((await hook.ask('GET', '')).json.waiting).toBe(1));
  expect(numbers(hook)).toEqual([1, 2]);
  expect((await hook.ask('GET', '')).json).toMatchObject({ state: 'active', failures: 0 });
});

test('only_failed comes with since', async () => {
  const hook = await makeHook('none');
  const { status, text } = await hook.ask('POST', '/resend', { seq: 1, only_failed: true });
  expect([status, text]).toEqual([400, expect.stringContaining('only_failed must come with since')]);
});

test('the list is read a page at a time', async () => {
  const hook = await makeHook('none');
  await giveUp(hook, [1, 2, 3], ['a', 'b', 'c']);
  const first = (await hook.ask('GET', '/dead-letters?limit=2')).json;
  expect(first.dead_letters.map(({ seq }: { seq: number }) => seq)).toEqual([3, 2]);
  const second = (await hook.ask('GET', `/dead-letters?limit=2&cursor=${first.next_cursor}`)).json;
  expect([second.dead_letters.length, second.dead_letters[0].seq, second.next_cursor]).toEqual([
    1,
    1,
    undefined,
  ]);
  expect((await hook.ask('GET', '/dead-letters?cursor=x')).status).toBe(400);
});
