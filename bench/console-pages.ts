/** Pages of the console, of a tenant with a large ledger. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CONSOLE_REQUESTS_LIMIT } from '../src/access/sessions/request-limit.ts';
import { LIMIT_MAX } from '../src/base/tenants/limits.ts';
import { renderTenantId, type TenantId } from '../src/base/tenants/tenant.ts';
import { makeMember } from '../test/support/console.ts';
import { setLimits } from '../test/support/tenants.ts';
import type { Benchmark } from './benchmark.ts';
import { DAYS, fillMonth, PARTICIPANTS, ROOMS } from './ledger-month.ts';
import { requestBytes } from './load.ts';
import { compareRead, READS_PER_ROUND, reader } from './read-times.ts';
import { makeBenchTenant, openProcess, openService, openStand, type Stand } from './stand.ts';

const RECORDS = Number(process.env.BENCH_RECORDS ?? 10_000_000);
const PAGE_MS = 50;
const REST_MS = 45_000;
const POLL_MS = 500;
const HOUR_MS = 3_600_000;

const MIDDLE = new Date(Date.now() - (DAYS / 2) * 24 * HOUR_MS).toISOString().slice(0, 10);

const PAGES: readonly { readonly title: string; readonly path: string }[] = [
  { title: 'overview', path: '/console' },
  { title: 'spend by room', path: '/console/spend?by=room' },
  { title: 'spend by room and hour', path: '/console/spend?by=room&every=hour' },
  { title: 'spend by role', path: '/console/spend?by=role' },
  { title: 'spend by tier', path: '/console/spend?by=tier' },
  { title: 'ledger', path: '/console/ledger' },
  { title: 'ledger of a room', path: '/console/ledger?room=room-77' },
  { title: 'ledger of a room, two weeks ago', path: `/console/ledger?room=room-77&to=${MIDDLE}` },
  { title: 'ledger of a participant', path: '/console/ledger?participant=user-4711' },
  { title: 'a charge', path: '/console/charge?id=relay-1.0000100.400' },
  { title: 'statements', path: '/console/statements' },
  { title: 'alerts', path: '/console/alerts' },
  { title: 'automatic top-up', path: '/console/top-up' },
  { title: 'webhooks', path: '/console/webhooks' },
  { title: 'keys', path: '/console/keys' },
  { title: 'devices', path: '/console/devices' },
  { title: 'rooms', path: '/console/rooms' },
  { title: 'people', path: '/console/people?name=user-4711' },
  { title: 'members', path: '/console/members' },
  { title: 'audit trail', path: '/console/audit' },
];

/** Whether each posting of the tenant is assigned to sessions. Until then that takes most of the time of the service. */
async function isAssigned({ db }: Stand, tenant: TenantId): Promise<boolean> {
  const { rows } = await db.query(
    `select from session_cursors c join accounts a on a.tenant_id = c.tenant_id and a.last_seq = c.seq where c.tenant_id = $1`,
    [tenant],
  );
  return rows.length > 0;
}

export const consolePages: Benchmark = {
  name: 'console-pages',
  summary: `pages of the console of a tenant with ${RECORDS.toLocaleString('en-US')} usage records in ${DAYS} days`,
  protocol: `A tenant has ${RECORDS.toLocaleString('en-US')} usage records of the last ${DAYS} days, of ${ROOMS.toLocaleString('en-US')} rooms and
    ${PARTICIPANTS.toLocaleString('en-US')} participants, written by SQL as charges would have left them, and vacuumed. Each page is asked
    for ${READS_PER_ROUND} times a round, one at a time, with the session of an owner. The floor is a route of the same service that
    checks a key and does nothing else. The result is the median of each round, in ms.`,
  async run(bench) {
    const stand = await openStand(bench);
    const { tenant, key: token } = await makeBenchTenant(stand, 'backend');
    const { cookie } = await makeMember(stand.db, tenant);
    await setLimits(stand.db, { id: renderTenantId(tenant) }, { [CONSOLE_REQUESTS_LIMIT.name]: LIMIT_MAX });
    const service = await openService(bench, stand);
    const keyed = await openProcess(bench, stand, './keyed-route.ts');
    bench.progress(`writing ${RECORDS} records; this takes minutes`);
    const now = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
    await fillMonth(stand, tenant, RECORDS, { from: new Date(now - DAYS * 24 * HOUR_MS) });
    // What was written goes to the disk meanwhile.
    await sleep(REST_MS);
    bench.progress('waiting until the service has assigned the records to sessions');
    const since = performance.now();
    while (!(await isAssigned(stand, tenant))) await sleep(POLL_MS);
    bench.note('assigning the records to sessions, after a rest', (performance.now() - since) / 1000, 's');
    const [before] = await service.memoryMb();
    const url = service.urls[0]!;
    const floor = reader(
      'a route with a key',
      'floor',
      keyed.url,
      requestBytes('GET', `${keyed.url}/who`, { token }),
    );
    for (const { title, path } of PAGES) {
      const request = requestBytes('GET', url + path, { cookie });
      await compareRead(bench, title, floor, reader('boxoffice', 'ours', url, request), PAGE_MS);
    }
    const [after] = await service.memoryMb();
    bench.note('resident memory of the service before the first page', before!, 'MB');
    bench.note('resident memory of the service afterwards', after!, 'MB');
  },
};
