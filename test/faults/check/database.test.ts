import { expect, inject, test } from 'vitest';
import { Database, NOW } from '../../../faults/check/database.ts';
import { useDatabase } from '../../support/database.ts';

const database = useDatabase();

async function readNow(at?: string): Promise<number> {
  const db = await Database.open(database.url, at);
  const [row] = await db.rows(`select extract(epoch from ${NOW}) * 1000 as now`);
  await db.close();
  return Math.round(Number(row!.now));
}

test.skipIf(inject('citusServers').length > 0)(
  'a campaign is judged as of the time at which it had settled, and one without such a time as of now',
  async () => {
    const at = '2026-11-20T08:00:00.000Z';
    expect(await readNow(at)).toBe(Date.parse(at));
    expect(Math.abs((await readNow()) - Date.now())).toBeLessThan(60_000);
  },
);
