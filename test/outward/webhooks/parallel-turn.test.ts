import { expect, test, vi } from 'vitest';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { appendEvents } from '../../../src/events/append-events.sql.ts';
import { setStatus } from '../../doors/rest/support.ts';
import { FAST_WEBHOOKS, useReceiver } from '../../support/receiver.ts';
import { useService } from '../../support/service.ts';
import { makeWebhook, numberOf } from './support.ts';

const TURN_MS = 100;
/** Longer than a turn, and not yet late. */
const ANSWER_MS = 500;

/** Only the end of the turn ends anything, however busy the machine is. */
const PATIENT = {
  rules: { ...FAST_WEBHOOKS.rules!, turnMs: TURN_MS, leaseSeconds: 60 },
  times: { ...FAST_WEBHOOKS.times!, answer: 60_000 },
};

const app = useService({ webhooks: PATIENT });
const receiver = useReceiver();

test('a turn that ends before an event that waits for its room sends nothing twice', async () => {
  const { db, events } = app.service.deps;
  const tenant = await app.signUp();
  await setStatus(app, tenant, 'active');
  const id = parseTenantId(tenant.id)!;
  const options = { order: 'room', types: ['credit_spent'], max_in_flight: 5 };
  await makeWebhook(app, tenant, receiver.url('/turns'), options);
  receiver.answer('/turns', (received, response) => {
    if (numberOf(received) !== 1) return 204;
    setTimeout(() => response.writeHead(204).end(), ANSWER_MS);
    return undefined;
  });
  const made = ['a', 'a', 'b', 'c', 'a'].map((roomUid, at) => ({
    type: 'credit_spent',
    roomUid,
    subject: { balance: String(at + 1), admitted: false },
  }));
  await appendEvents(db, id, made);
  events.wake(id);
  const numbers = () => receiver.received('/turns').map(numberOf);
  await vi.waitFor(() => expect(new Set(numbers())).toEqual(new Set([1, 2, 3, 4, 5])), { timeout: 30_000 });
  expect(numbers()).toEqual([1, 3, 4, 2, 5]);
});
