/** Others that wait for a turn to unpack hold connections, so the work in a turn asks the database nothing. */
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Db } from '../../../../src/base/db/pool.ts';
import { archiveRecords } from '../../../../src/money/records/archive-records.ts';
import { unpackTurns } from '../../../../src/money/records/chunks/unpack-turns.ts';
import { findRecordsById } from '../../../../src/money/records/find-records.ts';
import { findRecordsOf } from '../../../../src/money/records/records-of-postings.ts';
import { assignAll } from '../../../control/sessions/support.ts';
import { manyRecords, report } from '../../../doors/rest/ledger-routes.ts';
import { useService } from '../../../support/service.ts';
import { idOf } from '../../../support/tenants.ts';

const app = useService();

test('a chunk is unpacked in a turn that needs no connection', async () => {
  const { deps } = app.service;
  const tenant = await app.paidTenant();
  const records = manyRecords(20);
  await report(app, tenant, records);
  // The job takes turns, too.
  await assignAll(deps.db, idOf(tenant));
  await archiveRecords({ ...deps, config: { archiveAfterSeconds: 0 } });
  let isTurn = false;
  let turns = 0;
  const take = vi.spyOn(unpackTurns, 'take').mockImplementation(async (_hasPaid, work) => {
    isTurn = true;
    turns += 1;
    return work().finally(() => {
      isTurn = false;
    });
  });
  onTestFinished(() => take.mockRestore());
  const query = (...given: unknown[]) => {
    expect(isTurn).toBe(false);
    return (deps.db.query as (...all: unknown[]) => unknown)(...given);
  };
  const db = { query } as unknown as Db;
  const found = await findRecordsById(db, idOf(tenant), [String(records[3]!.id), 'never']);
  expect(found.map(({ id }) => id)).toEqual([records[3]!.id]);
  const place = { seq: 2n ** 40n, line: 0 };
  const { rows } = await deps.db.query(
    `select seq, records, newest_ids as ids, inserted_at as "insertedAt" from postings
      where tenant_id = $1 and records is not null`,
    [idOf(tenant)],
  );
  const all = await findRecordsOf(db, idOf(tenant), rows, { filter: {}, place, limit: 100 });
  expect(all).toHaveLength(20);
  expect(turns).toBe(2);
});
