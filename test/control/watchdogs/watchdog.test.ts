import { expect, test } from 'vitest';
import { openFirstRoom } from '../../../src/control/admission/open-first-room.sql.ts';
import { refuseImpossible } from '../../../src/control/watchdogs/refuse-impossible.ts';
import {
  WATCHDOG_ACTIONS,
  WATCHDOG_CONDITIONS,
  type WatchdogRule,
} from '../../../src/control/watchdogs/watchdog.ts';
import { insertWatchdog } from '../../../src/control/watchdogs/watchdogs.sql.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase();

const isRefused = (rule: WatchdogRule) => {
  try {
    refuseImpossible(rule);
    return false;
  } catch {
    return true;
  }
};

test('the table and the rules refuse the same actions', async () => {
  const { pool } = database;
  const tenant = await makeTenant(pool, { status: 'active', exempt: true });
  const roomUid = (await openFirstRoom(pool, tenant, 'lobby'))!.uid;
  const refused: string[] = [];
  const client = await pool.connect();
  for (const condition of WATCHDOG_CONDITIONS) {
    for (const action of WATCHDOG_ACTIONS) {
      const rule = { condition, action, durationMs: 60_000, warnBeforeMs: 0 };
      await client.query('begin');
      const isWritten = await insertWatchdog(client, tenant, roomUid, rule).then(
        () => true,
        () => false,
      );
      await client.query('rollback');
      expect({ ...rule, isWritten }).toStrictEqual({ ...rule, isWritten: !isRefused(rule) });
      if (!isWritten) refused.push(`${condition} ${action}`);
    }
  }
  client.release();
  expect(refused).toStrictEqual([
    'unused_for kick',
    'unused_for revoke_publish',
    'empty_for kick',
    'empty_for revoke_publish',
    'participant_max_duration end_room',
  ]);
});
