import { expect, test } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { wakeUnadmittedWatchdogs } from '../../../src/control/watchdogs/wake-watchdogs.sql.ts';
import { insertWatchdog } from '../../../src/control/watchdogs/watchdogs.sql.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase();
const ROOM = 'rm_woken';
const CREATED = 10;
const RULE = { condition: 'unadmitted_for', durationMs: 60_000, action: 'notify', warnBeforeMs: 0 } as const;

/** Times are in minutes ago. */
test.each<{ held: number | null; since: number | null; isNew: boolean; expected: number | null }>([
  { held: null, since: 5, isNew: false, expected: 5 },
  { held: 7, since: 5, isNew: false, expected: 7 },
  { held: 3, since: 5, isNew: false, expected: 5 },
  { held: null, since: 15, isNew: false, expected: CREATED },
  { held: 7, since: 5, isNew: true, expected: 5 },
  { held: 7, since: 15, isNew: true, expected: CREATED },
  { held: 7, since: null, isNew: false, expected: null },
])('held since $held, told $since, anew: $isNew, is $expected', async ({ held, since, isNew, expected }) => {
  const db = database.pool;
  const tenant = await makeTenant(db);
  const { rows: clock } = await db.query<{ now: Date }>('select now() as now');
  const now = clock[0]!.now.getTime();
  const ago = (minutes: number | null) => minutes && new Date(now - minutes * 60_000);
  await db.query(
    `insert into rooms (tenant_id, uid, name, incarnation, policy, created_at) values ($1, $2, 'woken', 1, '{}', $3)`,
    [tenant, ROOM, ago(CREATED)],
  );
  await inTransaction(db, async (tx) => {
    await insertWatchdog(tx, tenant, ROOM, RULE);
    await tx.query('update watchdogs set created_at = $2, held_since = $3 where tenant_id = $1', [
      tenant,
      ago(CREATED),
      ago(held),
    ]);
    await wakeUnadmittedWatchdogs(tx, tenant, { since: ago(since) as Date | null, isNew });
  });
  const { rows } = await db.query('select held_since as found from watchdogs where tenant_id = $1', [tenant]);
  expect(rows).toStrictEqual([{ found: ago(expected) }]);
});
