/** Grants: many histories against a model, and what an answer takes beside ten million charges. */
import type pg from 'pg';
import type { TenantId } from '../src/base/tenants/tenant.ts';
import type { Bench, Benchmark } from './benchmark.ts';
import { GrantHistory, writeHistories } from './grant-histories.ts';
import { requestBytes } from './load.ts';
import { compareRead, READS_PER_ROUND, reader } from './read-times.ts';
import { makeBenchTenant, onLongClient, openProcess, openService, openStand, type Stand } from './stand.ts';

const HISTORIES = Number(process.env.BENCH_HISTORIES ?? 100_000);
const AT_ONCE = 500;
const LANES = 4;

const CHARGES = Number(process.env.BENCH_CHARGES ?? 10_000_000);
const OTHERS = 2_000;
const GRANTS = 20;

export const grants: Benchmark = {
  name: 'grants',
  minutes: 4,
  summary: `${HISTORIES.toLocaleString('en-US')} histories of grants against a model, and grants beside ${CHARGES.toLocaleString('en-US')} charges`,
  protocol: `Random histories of usage, payments, refunds, grants, voids and late ends are written by SQL as the service would have left them.
    What is left of each grant, and what of the balance was granted, is compared with a model in big integers, at the last day and at three
    before. Then a tenant has ${CHARGES.toLocaleString('en-US')} charges, each a posting of its own, ${OTHERS.toLocaleString('en-US')} adjustments between them, and
    ${GRANTS} grants, the oldest before all of them. GET /v1/grants is sent ${READS_PER_ROUND} times a round, one at a time, beside a route that checks
    the key and does nothing else. The result is the median of each round, in ms.`,
  async run(bench) {
    const stand = await openStand(bench);
    await checkHistories(bench, stand);
    const { tenant, key: token } = await makeBenchTenant(stand, 'backend');
    bench.progress(`writing ${CHARGES} charges; this takes minutes`);
    await onLongClient(stand, (client) => fillLedger(client, tenant));
    const service = await openService(bench, stand);
    const keyed = await openProcess(bench, stand, './keyed-route.ts');
    const url = service.urls[0]!;
    const who = requestBytes('GET', `${keyed.url}/who`, { token });
    const list = requestBytes('GET', `${url}/v1/grants`, { token });
    const floor = reader('a route with a key', 'floor', keyed.url, who);
    await compareRead(
      bench,
      'grants, and what is left of each',
      floor,
      reader('boxoffice', 'ours', url, list),
    );
  },
};

async function checkHistories(bench: Bench, stand: Stand): Promise<void> {
  let done = 0;
  for (; done < HISTORIES; done += AT_ONCE) {
    bench.progress(`${done} histories`);
    const few = Array.from({ length: AT_ONCE }, (_, at) => new GrantHistory(1 + done + at));
    await onLongClient(stand, (client) => writeHistories(client, few));
    const lanes = Array.from({ length: LANES }, async (_, lane) => {
      for (let at = lane; at < few.length; at += LANES) await few[at]!.check(stand.db);
    });
    await Promise.all(lanes);
  }
  bench.note('histories that the model agrees with', done, 'histories');
}

/** A charge costs 1 micro; every so many postings, an adjustment of 1 comes in, and at even distances a grant of a million. */
async function fillLedger(client: pg.Client, tenant: TenantId): Promise<void> {
  // Checking ten million foreign keys would take most of the time.
  await client.query(
    'alter table postings drop constraint postings_chain, drop constraint postings_tenant_id_fkey',
  );
  const all = CHARGES + OTHERS + GRANTS;
  const kind = `case when (seq - 1) % ${Math.floor(all / GRANTS)} = 0 and seq < ${all} - ${GRANTS} then 'grant'
    when seq % ${Math.floor(CHARGES / OTHERS)} = 7 then 'adjustment' else 'usage' end`;
  await client.query(
    `insert into postings (tenant_id, seq, kind, balance_before, amount, balance, at, reference, rate_version,
                           rule_version, rounding, carry, records, newest_ids)
     select $1, seq, kind, balance - amount, amount, balance, '2026-01-01'::timestamptz + seq * interval '1 ms',
            case kind when 'grant' then 'gr_' || lpad(seq::text, 32, '0') end,
            case kind when 'usage' then 1 end, case kind when 'usage' then 1 end, case kind when 'usage' then 'c'::"char" end,
            case kind when 'usage' then 0 end, case kind when 'usage' then 1 end, case kind when 'usage' then '{id}'::text[] end
       from (select seq, kind, amount, sum(amount) over (order by seq)::bigint as balance
               from (select seq, kind, case kind when 'grant' then 1000000 when 'adjustment' then 1 else -1 end::bigint as amount
                       from (select seq, ${kind} as kind from generate_series(1, ${all}) seq) as s) as m) as p order by seq`,
    [tenant],
  );
  await client.query(
    `insert into grants (tenant_id, seq, id, amount, reason, granted_at, expires_at)
     select tenant_id, seq, reference, amount, 'a gift', at, timestamptz '2100-01-01' + seq * interval '1 ms'
       from postings where tenant_id = $1 and kind = 'grant'`,
    [tenant],
  );
  await client.query(
    `update accounts a set last_seq = p.seq, balance = p.balance from postings p
      where a.tenant_id = $1 and p.tenant_id = $1 and p.seq = ${all}`,
    [tenant],
  );
  await client.query('vacuum analyze postings, grants');
}
