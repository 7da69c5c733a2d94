/**
 * Events reach a receiver that fails at random, while the service is killed: each one, and in the order of the webhook.
 */
import { expect, test, vi } from 'vitest';
import { newTenantId, type TenantId } from '../../../src/base/tenants/tenant.ts';
import { appendEvents } from '../../../src/events/append-events.sql.ts';
import { WINDOW_MAX } from '../../../src/outward/webhooks/delivery-window.ts';
import { WEBHOOK_ORDERS, type WebhookOrder } from '../../../src/outward/webhooks/webhook.ts';
import { useChildService } from '../../support/child-service.ts';
import { useDatabase } from '../../support/database.ts';
import { eventsOf, useReceiver } from '../../support/receiver.ts';
import { ask } from '../../support/service.ts';
import { makeKey, makeTenant } from '../../support/tenants.ts';

const TENANTS = 5;
const EVENTS = 2_000;
const ROOMS = 50;
const KILLS = 6;

const database = useDatabase({ makesUpEvents: true });
const service = useChildService(database);
const receiver = useReceiver();

interface Seen {
  readonly seq: number;
  readonly isAccepted: boolean;
}

interface Told {
  readonly id: TenantId;
  readonly key: string;
  readonly path: string;
  readonly seen: Seen[];
  /** Each number that was accepted, which is asked for every few milliseconds. */
  readonly accepted: Set<number>;
}

let paths = 0;

async function makeTold(order: WebhookOrder, maxBatch: number): Promise<Told> {
  const id = await makeTenant(database.pool, { id: newTenantId(), status: 'active' });
  const { plaintext: key } = await makeKey(database.pool, id, 'backend');
  const told = { id, key, path: `/of-${++paths}`, seen: [], accepted: new Set<number>() };
  answerAtRandom(told);
  const body = { url: receiver.url(told.path), order, max_in_flight: 20, max_batch: maxBatch };
  const made = await ask(`${service.url}/v1/webhooks`, 'POST', { key, body });
  expect(made.status, made.text).toBe(201);
  return told;
}

/** 500, a closed connection, or no answer at all; else 204. */
function answerAtRandom({ path, seen, accepted }: Told): void {
  receiver.answer(path, (received, response) => {
    const luck = Math.random();
    const isAccepted = luck >= 0.008;
    for (const { seq } of eventsOf(received)) {
      seen.push({ seq, isAccepted });
      if (isAccepted) accepted.add(seq);
    }
    if (luck < 0.004) return 500;
    if (luck < 0.007) response.socket?.destroy();
    if (luck < 0.008) return undefined;
    return 204;
  });
}

const roomOf = (seq: number) => `room-${(seq * 7) % ROOMS}`;

/** Events with the numbers from `from` on. */
async function append(tenant: TenantId, count: number, from: number): Promise<void> {
  const made = Array.from({ length: count }, (_, at) => ({
    type: 'credit_spent',
    roomUid: roomOf(from + at),
    subject: { balance: '1', admitted: false },
  }));
  await appendEvents(database.pool, tenant, made);
}

/** The next one after an accepted one, or the same one again. */
function expectInOrder(seen: readonly Seen[]): void {
  let last: Seen = { seq: 0, isAccepted: true };
  for (const each of seen) {
    const isNext = last.isAccepted && each.seq === last.seq + 1;
    const text = `${JSON.stringify(each)} after ${JSON.stringify(last)}`;
    expect(isNext || each.seq === last.seq, text).toBe(true);
    last = each;
  }
}

/** A list that was refused begins again with its first event. */
function expectAcceptedInOrder(seen: readonly Seen[]): void {
  const firsts = [...new Set(seen.filter((each) => each.isAccepted).map(({ seq }) => seq))];
  expect(firsts).toEqual(firsts.toSorted((a, b) => a - b));
}

function expectInOrderByRoom(seen: readonly Seen[]): void {
  for (const [room, of] of Map.groupBy(seen, ({ seq }) => roomOf(seq))) {
    const firsts = [...new Set(of.map(({ seq }) => seq))];
    expect(firsts, room).toEqual(firsts.toSorted((a, b) => a - b));
  }
}

const EXPECT_ORDER = {
  tenant: expectInOrder,
  room: expectInOrderByRoom,
  none: () => {},
} as const;
/** What a process that dies has not noted yet. */
const UNNOTED = { tenant: 1, room: WINDOW_MAX, none: WINDOW_MAX } as const;

const CASES = [1, 20].flatMap((maxBatch) => WEBHOOK_ORDERS.map((order) => [order, maxBatch] as const));

test.each(CASES)(
  'order %s, %i at a time: 10,000 events, six kills',
  { timeout: 1_800_000 },
  async (order, maxBatch) => {
    await service.start();
    const tenants: Told[] = [];
    for (let made = 0; made < TENANTS; made += 1) tenants.push(await makeTold(order, maxBatch));
    for (const { id } of tenants) {
      for (let from = 1; from <= EVENTS; from += 500) await append(id, 500, from);
    }
    const accepted = () => tenants.reduce((sum, each) => sum + each.accepted.size, 0);
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const due = (kill * TENANTS * EVENTS) / (KILLS + 1);
      await vi.waitFor(() => expect(accepted()).toBeGreaterThanOrEqual(due), {
        timeout: 400_000,
        interval: 10,
      });
      await service.kill();
      await service.start();
    }
    await vi.waitFor(() => expect(accepted()).toBe(TENANTS * EVENTS), { timeout: 400_000, interval: 100 });

    let again = 0;
    for (const { seen } of tenants) {
      if (maxBatch === 1) EXPECT_ORDER[order](seen);
      else if (order === 'tenant') expectAcceptedInOrder(seen);
      else EXPECT_ORDER[order](seen);
      again += seen.filter(({ isAccepted }) => isAccepted).length - EVENTS;
    }
    // Accepted events come again only if the process died before it could note the answer.
    expect(again).toBeLessThanOrEqual(KILLS * TENANTS * Math.max(UNNOTED[order], maxBatch));
    const refused = tenants.flatMap(({ seen }) => seen).filter(({ isAccepted }) => !isAccepted);
    expect(refused.length).toBeGreaterThan(0);
  },
);
