/**
 * Events reach a receiver that fails at random, while the service is killed: each one, and in order.
 */
import { beforeAll, expect, test, vi } from 'vitest';
import { newTenantId, renderTenantId, type TenantId } from '../../../src/base/tenants/tenant.ts';
import { useChildService } from '../../support/child-service.ts';
import { useDatabase } from '../../support/database.ts';
import { useReceiver } from '../../support/receiver.ts';
import { ask } from '../../support/service.ts';
import { makeKey, makeTenant } from '../../support/tenants.ts';
import { appendBalances } from './support.ts';

const TENANTS = 5;
const EVENTS = 2_000;
const KILLS = 6;

const database = useDatabase();
const service = useChildService(database);
const receiver = useReceiver();

interface Seen {
  readonly seq: number;
  readonly isAccepted: boolean;
}

const tenants: { id: TenantId; key: string; path: string; seen: Seen[] }[] = [];

beforeAll(async () => {
  for (let made = 0; made < TENANTS; made += 1) {
    const id = await makeTenant(database.pool, { id: newTenantId(), status: 'active' });
    const { plaintext } = await makeKey(database.pool, id, 'backend');
    tenants.push({ id, key: plaintext, path: `/of-${made}`, seen: [] });
  }
});

/** 500, a closed connection, or no answer at all; else 204. */
function answerAtRandom(path: string, seen: Seen[]): void {
  receiver.answer(path, ({ event }, response) => {
    const luck = Math.random();
    seen.push({ seq: event.seq, isAccepted: luck >= 0.008 });
    if (luck < 0.004) return 500;
    if (luck < 0.007) response.socket?.destroy();
    if (luck < 0.008) return undefined;
    return 204;
  });
}

test('10,000 events, six kills', { timeout: 1_800_000 }, async () => {
  await service.start();
  for (const { key, path, seen } of tenants) {
    answerAtRandom(path, seen);
    const made = await ask(`${service.url}/v1/webhooks`, 'POST', { key, body: { url: receiver.url(path) } });
    expect(made.status, made.text).toBe(201);
  }
  for (const { id } of tenants) {
    for (let from = 1; from <= EVENTS; from += 500) {
      await appendBalances(database.pool, { id: renderTenantId(id) }, 500, from);
    }
  }
  const accepted = () =>
    tenants.reduce(
      (sum, { seen }) => sum + new Set(seen.filter((each) => each.isAccepted).map(({ seq }) => seq)).size,
      0,
    );
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
    let last: Seen = { seq: 0, isAccepted: true };
    for (const each of seen) {
      // The next one after an accepted one, or the same one again.
      const isNext = last.isAccepted && each.seq === last.seq + 1;
      expect(isNext || each.seq === last.seq, `${JSON.stringify(each)} after ${JSON.stringify(last)}`).toBe(
        true,
      );
      if (each.seq === last.seq && last.isAccepted) again += 1;
      last = each;
    }
  }
  // Accepted events come again only if the process died before it could note the answer.
  expect(again).toBeLessThanOrEqual(KILLS * TENANTS);
  expect(tenants.flatMap(({ seen }) => seen).filter(({ isAccepted }) => !isAccepted).length).toBeGreaterThan(
    0,
  );
});
