/** Reads of sessions beside many usage records, and how fast usage is assigned to them. */
import type pg from 'pg';
import type { TenantId } from '../src/base/tenants/tenant.ts';
import { assignNext } from '../src/control/sessions/assign-usage.ts';
import type { Bench, Benchmark } from './benchmark.ts';
import { DAYS, fillMonth, MONTH, PARTICIPANTS, REGULARS, ROOMS } from './ledger-month.ts';
import { requestBytes } from './load.ts';
import { compareRead, READS_PER_ROUND, reader } from './read-times.ts';
import { makeBenchTenant, onLongClient, openProcess, openService, openStand, type Stand } from './stand.ts';

const RECORDS = Number(process.env.BENCH_RECORDS ?? 10_000_000);
const ASSIGNED = 200_000;
const PAGE_MS = 50;
const PERIOD = `from=${MONTH.from}&to=${MONTH.to}`;
const CUSTOMERS = 200;

export const sessions: Benchmark = {
  name: 'sessions',
  summary: `pages of sessions and single ones of a tenant with ${RECORDS.toLocaleString('en-US')} usage records, and the job that assigns usage`,
  protocol: `A tenant has ${RECORDS.toLocaleString('en-US')} usage records of ${DAYS} days, in batches of 500, of ${ROOMS.toLocaleString('en-US')} rooms and
    ${PARTICIPANTS.toLocaleString('en-US')} participants, written by SQL as charges would have left them. A room has the same 25 participants all the time, who have
    a session each day, and each room is of one of ${CUSTOMERS} customers. Each read is sent ${READS_PER_ROUND} times a round, one at a time. The floor is a route of the same service that
    checks the key and does nothing else. The result is the median of each round, in ms. The job assigns ${ASSIGNED.toLocaleString('en-US')} records of another
    tenant to sessions that are there, alone and one turn after another.`,
  async run(bench) {
    const stand = await openStand(bench);
    // Before a service is there that would do it.
    await measureAssigning(bench, stand);
    const { tenant, key: token } = await makeBenchTenant(stand, 'backend');
    bench.progress(`writing ${RECORDS} records and their sessions; this takes minutes`);
    await fillMonth(stand, tenant, RECORDS, { participant: REGULARS });
    bench.note('sessions', await fillSessions(stand, tenant, { isAssigned: true }), '');
    const service = await openService(bench, stand);
    const keyed = await openProcess(bench, stand, './keyed-route.ts');
    const url = service.urls[0]!;
    const request = requestBytes('GET', `${keyed.url}/who`, { token });
    const floor = reader('a route with a key', 'floor', keyed.url, request);
    for (const [title, path] of await readsOf(stand, tenant)) {
      const ours = reader('boxoffice', 'ours', url, requestBytes('GET', url + path, { token }));
      await compareRead(bench, title, floor, ours, PAGE_MS);
    }
  },
};

async function measureAssigning(bench: Bench, stand: Stand): Promise<void> {
  const { tenant } = await makeBenchTenant(stand, 'relay');
  bench.progress('assigning usage');
  await fillMonth(stand, tenant, ASSIGNED, { participant: REGULARS });
  await fillSessions(stand, tenant, { isAssigned: false });
  const begun = performance.now();
  while (await assignNext(stand.db, tenant));
  bench.note('records assigned', (ASSIGNED / (performance.now() - begun)) * 1_000, 'records/s');
}

async function readsOf(stand: Stand, tenant: TenantId): Promise<[title: string, path: string][]> {
  const { rows } = await stand.db.query<{ id: string }>(
    'select id from sessions where tenant_id = $1 order by records desc, id limit 1',
    [tenant],
  );
  return [
    ['the newest 100 sessions', '/v1/sessions'],
    ['100 sessions of the middle', '/v1/sessions?to=2026-10-16'],
    ['100 sessions of a room', '/v1/sessions?room=room-77'],
    ['100 sessions of a participant', '/v1/sessions?participant=user-4711'],
    ['100 sessions of a participant in a room', '/v1/sessions?room=room-77&participant=user-4711'],
    ['100 sessions of a key in a week', '/v1/sessions?key=0123456789abcdef&from=2026-10-12&to=2026-10-19'],
    ['100 sessions of a key in a room', '/v1/sessions?room=room-77&key=0123456789abcdef'],
    ['100 sessions of a customer', '/v1/sessions?customer=customer-77'],
    ['100 sessions of a customer in a room', '/v1/sessions?room=room-77&customer=customer-77'],
    ['one session with its records', `/v1/sessions/${rows[0]!.id}`],
    ['the cost of a room', '/v1/rooms/rm_77/cost'],
    ['the 100 most expensive participants of a month', `/v1/usage/summary?group_by=participant&${PERIOD}`],
    ['a month by key and day', `/v1/usage/summary?group_by=day,key&${PERIOD}`],
    ['the 100 most expensive customers of a month', `/v1/usage/summary?group_by=customer&${PERIOD}`],
    ['customers by month', `/v1/usage/summary?group_by=month,customer&from=2026-01-01&to=2027-01-01`],
  ];
}

const SUMS = ['egress_bytes', 'ingress_bytes', 'amount', 'unbilled'].map((each) => `sum(${each})`).join(', ');

/** As the job would have left them. Participants have no order in the table. */
async function fillSums(client: pg.Client, tenant: TenantId): Promise<void> {
  for (const [kind, name] of Object.entries({ p: 'participant', k: 'key_id', c: 'customer' })) {
    for (const part of ['day', 'month']) {
      await client.query(
        `insert into session_sums (tenant_id, kind, part, start, name, records, seconds, egress_bytes, ingress_bytes, amount, unbilled)
         select tenant_id, '${kind}', '${part[0]}', date_trunc('${part}', entered_at, 'UTC') as start, ${name}, sum(records),
                sum(seconds[2]), ${SUMS} from sessions where tenant_id = $1 group by tenant_id, start, ${name}
          order by start, hashtext(${name})`,
        [tenant],
      );
    }
  }
  await client.query(
    `insert into room_usage (tenant_id, room, room_uid, is_assigned, sessions, records, seconds, egress_bytes, ingress_bytes, amount, unbilled)
     select tenant_id, room, room_uid, true, count(*), sum(records), array[0, sum(seconds[2]), 0, 0, 0]::bigint[], ${SUMS}
       from sessions where tenant_id = $1 group by tenant_id, room, room_uid`,
    [tenant],
  );
}

/** One for each room, participant and day. Returns how many. */
function fillSessions(
  stand: Stand,
  tenant: TenantId,
  { isAssigned }: { readonly isAssigned: boolean },
): Promise<number> {
  return onLongClient(stand, async (client) => {
    await client.query(
      `insert into rooms (tenant_id, uid, name, incarnation, policy, created_at)
       select $1, 'rm_' || n, 'room-' || n, 1, '{}', '2026-09-01' from generate_series(0, ${ROOMS - 1}) n`,
      [tenant],
    );
    const { rowCount } = await client.query(
      `insert into sessions (tenant_id, id, room, room_uid, participant, role, key_id, customer, devices, entered_at, left_at,
                             leave_reason, first_seq, last_seq, records, seconds, egress_bytes, ingress_bytes, amount)
       select $1, 'se_' || md5($1::bigint || room || participant || day), room, 'rm_' || split_part(room, '-', 2), participant, 'audience',
              '0123456789abcdef', 'customer-' || split_part(room, '-', 2)::integer % ${CUSTOMERS}, array[repeat('d', 43)], day + (hashtext(participant) & 1023) * interval '1 microsecond',
              day + interval '1 day', 'expired', ${isAssigned ? 'first, last, records' : 'null, null, 0'},
              ${isAssigned ? 'array[0, 60 * records, 0, 0, 0]' : `'{0,0,0,0,0}'`}, ${isAssigned ? '900000000 * records, 90000 * records, amount' : '0, 0, 0'}
         from (select date_trunc('day', inserted_at, 'UTC') as day, room, participant, min(posting_seq) as first,
                      max(posting_seq) as last, count(*) as records, sum(amount) as amount
                 from usage_records where tenant_id = $1 group by 1, 2, 3) as visits`,
      [tenant],
    );
    if (isAssigned) {
      await client.query(
        'insert into session_cursors (tenant_id, seq) select tenant_id, last_seq from accounts where tenant_id = $1',
        [tenant],
      );
      await fillSums(client, tenant);
    }
    await client.query('vacuum analyze sessions, session_sums, room_usage');
    return rowCount!;
  });
}
