/** Reads of a large ledger: sums of a month, and pages of its entries. */

import { makeKey } from '../test/support/tenants.ts';
import type { Benchmark } from './benchmark.ts';
import { DAYS, fillMonth, MONTH, PARTICIPANTS, ROOMS } from './ledger-month.ts';
import { requestBytes } from './load.ts';
import { compareRead, READS_PER_ROUND, reader } from './read-times.ts';
import { makeBenchTenant, openProcess, openService, openStand } from './stand.ts';

const RECORDS = Number(process.env.BENCH_RECORDS ?? 10_000_000);
const MONTH_BY_DAY_MS = 20;
const MONTH_BY_ROOM_MS = 50;
const IDS = 5_000;

const PERIOD = `from=${MONTH.from}&to=${MONTH.to}`;

/** With a goal in ms for the 95th percentile, where there is one. */
const READS: readonly { readonly title: string; readonly path: string; readonly p95?: number }[] = [
  { title: 'a month by day', path: `/v1/usage/summary?group_by=day&${PERIOD}`, p95: MONTH_BY_DAY_MS },
  { title: 'a month by day, role and tier', path: `/v1/usage/summary?group_by=day,role,tier&${PERIOD}` },
  { title: 'the 100 most expensive rooms of a month', path: `/v1/usage/summary?group_by=room&${PERIOD}` },
  {
    title: 'a month by room, role and tier',
    path: `/v1/usage/summary?group_by=room,role,tier&${PERIOD}`,
    p95: MONTH_BY_ROOM_MS,
  },
  {
    title: 'thirty days by room, role and tier',
    path: `/v1/usage/summary?group_by=room,role,tier&from=2026-10-02&to=${MONTH.to}`,
  },
  { title: 'a room by day', path: `/v1/usage/summary?group_by=day&room=room-77&${PERIOD}` },
  { title: 'the newest 100 entries', path: '/v1/ledger' },
  { title: '100 entries of the middle', path: '/v1/ledger?to=2026-10-16' },
  { title: '100 entries of a room', path: '/v1/ledger?room=room-77' },
  { title: '100 records of a participant', path: '/v1/usage/records?participant=user-4711' },
  { title: 'the explanation of a charge', path: '/v1/usage/relay-1.0000100.400/explain' },
];

export const ledgerReads: Benchmark = {
  name: 'ledger-reads',
  summary: `sums, entries and records of a tenant with ${RECORDS.toLocaleString('en-US')} usage records in a month`,
  protocol: `A tenant has ${RECORDS.toLocaleString('en-US')} usage records of ${DAYS} days, in batches of 500, of ${ROOMS.toLocaleString('en-US')} rooms and
    ${PARTICIPANTS.toLocaleString('en-US')} participants, written by SQL as charges would have left them, and vacuumed. Each read is sent
    ${READS_PER_ROUND} times a round, one at a time. The floor is a route of the same service that checks the key and does
    nothing else. A filter by participant looks through 100,000 records a page and more, so its page may have fewer than 100.
    Looking up asks for ${IDS.toLocaleString('en-US')} ids. The result is the median of each round, in ms.`,
  async run(bench) {
    const stand = await openStand(bench);
    const { tenant, key: relayKey } = await makeBenchTenant(stand, 'relay');
    const { plaintext: token } = await makeKey(stand.db, tenant, 'backend');
    const service = await openService(bench, stand);
    const keyed = await openProcess(bench, stand, './keyed-route.ts');
    bench.progress(`writing ${RECORDS} records; this takes minutes`);
    await fillMonth(stand, tenant, RECORDS);
    const url = service.urls[0]!;
    const floor = reader(
      'a route with a key',
      'floor',
      keyed.url,
      requestBytes('GET', `${keyed.url}/who`, { token }),
    );
    for (const { title, path, p95 } of READS) {
      await compareRead(
        bench,
        title,
        floor,
        reader('boxoffice', 'ours', url, requestBytes('GET', url + path, { token })),
        p95,
      );
    }
    const ids = Array.from({ length: IDS }, (_, at) => `relay-1.${String(1 + at * 3).padStart(7, '0')}.007`);
    const request = requestBytes('POST', `${url}/v1/usage/lookup`, {
      token: relayKey,
      json: JSON.stringify({ ids }),
    });
    await compareRead(bench, `what became of ${IDS} ids`, floor, reader('boxoffice', 'ours', url, request));
    bench.note('resident memory of the service afterwards', (await service.memoryMb())[0]!, 'MB');
  },
};
