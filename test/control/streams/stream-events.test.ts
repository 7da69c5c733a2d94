import { beforeEach, expect, test } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { listStreamEvents } from '../../../src/control/streams/stream-events.sql.ts';
import { appendNumberedEvents } from '../../../src/events/append-events.sql.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase({ makesUpEvents: true });
const BEGINNING = { seq: 0n, at: null };
let tenant: TenantId;
/** When each event happened. */
let times: Date[];

beforeEach(async () => {
  tenant = await makeTenant(database.pool);
  const events = [1, 2, 3].map(() => ({ type: 'room_created', roomUid: null, subject: {} }));
  await inTransaction(database.pool, (tx) => appendNumberedEvents(tx, tenant, events));
  const { rows } = await database.pool.query<{ at: Date }>(
    'select at from events where tenant_id = $1 order by seq',
    [tenant],
  );
  times = rows.map(({ at }) => at);
});

test.each([
  ['all that there are', { limit: 4, only: undefined }, [1n, 2n, 3n], 3],
  ['as many as were asked for', { limit: 2, only: undefined }, [1n, 2n], 2],
  ['none of the type', { limit: 4, only: 'participants' }, [], 3],
] as const)('a page that has %s ends at a place with its time', async (_, wanted, seqs, end) => {
  const page = await listStreamEvents(database.pool, tenant, {
    ...wanted,
    room: undefined,
    after: BEGINNING,
  });
  expect(page.events.map(({ seq }) => seq)).toEqual(seqs);
  expect(page.reached).toEqual({ seq: BigInt(end), at: times[end - 1] });
});

test('a page after the last event stays there', async () => {
  const after = { seq: 3n, at: times[2]! };
  const wanted = { limit: 4, room: undefined, only: undefined, after };
  expect(await listStreamEvents(database.pool, tenant, wanted)).toEqual({
    events: [],
    reached: after,
    lastSeq: 3n,
    isKept: true,
  });
});
