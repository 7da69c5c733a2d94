/** Sums and statements of a tenant with a time zone, beside one without. */
import { inTransaction } from '../src/base/db/transaction.ts';
import { insertTimeZone } from '../src/money/calendar/time-zones.sql.ts';
import type { Month } from '../src/money/month.ts';
import { makeKey } from '../test/support/tenants.ts';
import type { Benchmark } from './benchmark.ts';
import { fillMonth, ROOMS } from './ledger-month.ts';
import { requestBytes } from './load.ts';
import { reader } from './read-times.ts';
import { makeBenchTenant, openProcess, openService, openStand, type Stand } from './stand.ts';

const RECORDS = Number(process.env.BENCH_RECORDS ?? 2_000_000);
const ZONES = ['UTC', 'Asia/Kathmandu'];

const READS: readonly (readonly [title: string, path: string])[] = [
  ['the statement of a month', '/v1/statements/2026-10'],
  ['a month by day', '/v1/usage/summary?group_by=day&from=2026-10-01&to=2026-11-01'],
  ['a month by room', '/v1/usage/summary?group_by=room&from=2026-10-01&to=2026-11-01'],
  [
    'a month by room, role and tier',
    '/v1/usage/summary?group_by=room,role,tier&from=2026-10-01&to=2026-11-01',
  ],
  ['a room by day', '/v1/usage/summary?group_by=day&room=room-77&from=2026-10-01&to=2026-11-01'],
  ['a month by day and room', '/v1/usage/summary?group_by=day,room&from=2026-10-01&to=2026-11-01'],
];

/** The key of a tenant with a month of usage. */
async function fillTenant(stand: Stand, zone: string): Promise<string> {
  const { tenant } = await makeBenchTenant(stand, 'relay');
  await stand.db.query(`update tenants set created_at = '2026-01-01' where id = $1`, [tenant]);
  await inTransaction(stand.db, (tx) => insertTimeZone(tx, tenant, zone, '2026-02' as Month));
  await fillMonth(stand, tenant, RECORDS, { sums: zone === 'UTC' ? '1 hour' : '15 minutes' });
  return (await makeKey(stand.db, tenant, 'backend')).plaintext;
}

export const timeZones: Benchmark = {
  name: 'time-zones',
  summary: 'sums and statements of a tenant in Asia/Kathmandu beside one in UTC',
  protocol: `Two tenants have ${RECORDS.toLocaleString('en-US')} usage records each in October 2026, of ${ROOMS.toLocaleString('en-US')} rooms, written by SQL as
    charges would have left them: one with sums by hour, the other one, in Asia/Kathmandu, by quarter-hour. The floor is a route
    that checks the key and does nothing else. The result is the median of each round, in ms.`,
  async run(bench) {
    const stand = await openStand(bench);
    const tokens: string[] = [];
    for (const zone of ZONES) {
      bench.progress(`writing ${RECORDS} records of ${zone}`);
      tokens.push(await fillTenant(stand, zone));
    }
    const service = await openService(bench, stand);
    const keyed = await openProcess(bench, stand, './keyed-route.ts');
    const url = service.urls[0]!;
    const who = requestBytes('GET', `${keyed.url}/who`, { token: tokens[0]! });
    for (const [title, path] of READS) {
      const contestants = ZONES.map((zone, at) =>
        reader(zone, 'ours', url, requestBytes('GET', url + path, { token: tokens[at]! })),
      );
      await bench.compare({
        title,
        unit: 'ms',
        contestants: [reader('a route with a key', 'floor', keyed.url, who), ...contestants],
      });
    }
  },
};
