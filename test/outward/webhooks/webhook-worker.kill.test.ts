/** Two processes share the webhooks: what one of them was delivering goes on in the other one within seconds. */
import { expect, test, vi } from 'vitest';
import { newTenantId, renderTenantId } from '../../../src/base/tenants/tenant.ts';
import type { WebhookOrder } from '../../../src/outward/webhooks/webhook.ts';
import { useChildService } from '../../support/child-service.ts';
import { useDatabase } from '../../support/database.ts';
import { useReceiver } from '../../support/receiver.ts';
import { ask } from '../../support/service.ts';
import { makeKey, makeTenant } from '../../support/tenants.ts';
import { appendBalances } from './support.ts';

/** What is promised is 5 s; the rest is for a busy machine. Leases end after 30 s. */
const SECONDS_MAX = 12;

const database = useDatabase();
const usual = { hasUsualWebhooks: true };
const [one, other] = [useChildService(database, usual), useChildService(database, usual)];
const receiver = useReceiver();
let paths = 0;
let path: string;
let tenant: { id: string; key: string };

const seqs = () => receiver.received(path).map(({ event }) => event.seq);
/** In order, and the first one again. A process that was too busy to say that it lives may send an event once more. */
const inOrder = () => {
  const all = seqs();
  expect(all).toEqual(all.toSorted());
  expect(all.filter((seq) => seq === 1).length).toBeGreaterThan(1);
  return [...new Set(all)];
};
const wait = (work: () => void) => vi.waitFor(work, { timeout: 60_000, interval: 10 });

/** A webhook whose first event hangs in the process `one`, while `other` runs too. */
async function hangInOne(order: WebhookOrder): Promise<void> {
  path = `/of-${++paths}`;
  const id = await makeTenant(database.pool, { id: newTenantId(), status: 'active' });
  const { plaintext: key } = await makeKey(database.pool, id, 'backend');
  tenant = { id: renderTenantId(id), key };
  receiver.answer(path, () => undefined);
  await one.start();
  const made = await ask(`${one.url}/v1/webhooks`, 'POST', { key, body: { url: receiver.url(path), order } });
  expect(made.status, made.text).toBe(201);
  await appendBalances(database.pool, tenant, 3);
  await wait(() => expect(seqs()[0]).toBe(1));
  await other.start();
  receiver.answer(path, () => 204);
}

test('after kill -9, the other one sends the event again within seconds', async () => {
  await hangInOne('tenant');
  const killedAt = performance.now();
  await one.kill();
  await wait(() => expect(inOrder()).toEqual([1, 2, 3]));
  expect((performance.now() - killedAt) / 1000).toBeLessThan(SECONDS_MAX);
});

test('so it does for a webhook in no order, with all events that were under way', async () => {
  await hangInOne('none');
  await wait(() => expect(seqs()).toEqual([1, 2, 3]));
  const killedAt = performance.now();
  await one.kill();
  await wait(() => expect(seqs().slice(3).toSorted()).toEqual([1, 2, 3]));
  expect((performance.now() - killedAt) / 1000).toBeLessThan(SECONDS_MAX);
});

test('a process that was stopped and goes on sends nothing under the lease that it lost', async () => {
  await hangInOne('tenant');
  one.stop();
  await wait(() => expect(inOrder()).toEqual([1, 2, 3]));
  const before = await database.pool.query('select id from processes where gone_at is not null');
  one.goOn();
  // It goes on under another id.
  await vi.waitFor(
    async () => {
      const { rows } = await database.pool.query(
        'select count(*)::integer as count from processes where gone_at is null',
      );
      expect(rows[0].count).toBe(2);
    },
    { timeout: 60_000, interval: 20 },
  );
  await appendBalances(database.pool, tenant, 2, 4);
  await wait(() => expect(inOrder()).toEqual([1, 2, 3, 4, 5]));
  const { rows } = await database.pool.query('select lease, leased_by from webhook_cursors where seq = 5');
  expect(before.rows.map(({ id }) => id)).not.toContain(rows[0]?.leased_by);
});
