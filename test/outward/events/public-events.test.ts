/** Pages of the log, as long as its events allow. */
import { expect, test } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { newTenantId } from '../../../src/base/tenants/tenant.ts';
import { appendNumberedEvents } from '../../../src/events/append-events.sql.ts';
import { listPublicEvents, PAGE_BYTES } from '../../../src/outward/events/public-events.sql.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase({ makesUpEvents: true });

async function makeLog(sizes: readonly number[]) {
  const tenant = await makeTenant(database.pool, { id: newTenantId(), status: 'active' });
  const events = sizes.map((size) => ({
    ...{ type: 'credit_spent', roomUid: null },
    subject: { pad: 'x'.repeat(size) },
  }));
  await inTransaction(database.pool, (tx) => appendNumberedEvents(tx, tenant, events));
  return (after: bigint, limit: number, types = ['credit_spent']) =>
    listPublicEvents(database.pool, tenant, { after, types, limit });
}

test('a page ends after the event with which it is large, and the next one begins after that', async () => {
  const read = await makeLog([PAGE_BYTES * 2, 10, PAGE_BYTES - 1_000, 2_000, 10, 10]);
  const pages: bigint[][] = [];
  for (let after = 0n; ; ) {
    const { events, reached, lastSeq } = await read(after, 1_000);
    pages.push(events.map(({ seq }) => seq));
    after = reached;
    if (reached === lastSeq) break;
  }
  expect(pages).toEqual([[1n], [2n, 3n, 4n], [5n, 6n]]);
});

test('a page of few events ends with its last one, and one without events with the log', async () => {
  const read = await makeLog([10, 10, 10]);
  expect(await read(0n, 2)).toMatchObject({ reached: 2n, lastSeq: 3n });
  expect(await read(2n, 2)).toMatchObject({ reached: 3n });
  expect(await read(0n, 10, ['top_up_failed'])).toMatchObject({ events: [], reached: 3n });
});
