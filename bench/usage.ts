/** Charging large batches, beside the floor. */
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Bench, Benchmark, Contestant } from './benchmark.ts';
import { requestBytes, runLoad } from './load.ts';
import { type BenchTenant, makeTenant, openService, openStand, type Stand } from './stand.ts';

const BATCH = 5_000;
const BATCHES_PER_ROUND = 4;

export const usage: Benchmark = {
  name: 'usage',
  summary: 'charging batches of 5,000 usage records, beside a raw COPY of the same rows',
  protocol: `One client sends batches of ${BATCH} new records of one tenant to POST /v1/usage, each after the
    answer to the one before, ${BATCHES_PER_ROUND} batches a round. The floor is a raw COPY of the same rows, by one
    client, into a bare table of the same columns with one unique index on (tenant, id), on the same
    server and committed batch by batch. Counted are records a second, from the first byte sent to the
    last answer.`,
  takesPeers: true,
  async run(bench) {
    const stand = await openStand(bench);
    const service = await openService(bench, stand);
    const tenant = await makeTenant(stand, 'relay');
    await bench.compare({
      title: `batches of ${BATCH}, one client`,
      unit: 'records/s',
      contestants: [
        await floor(bench, stand, tenant),
        server('boxoffice', 'ours', service.urls[0]!, tenant.key),
        ...bench.peers.map(({ name, url, token }) => server(name, 'peer', url, token)),
      ],
    });
    const [memoryMb] = await service.memoryMb();
    bench.note('resident memory of the service afterwards', memoryMb!, 'MB');
  },
};

interface Row {
  readonly id: string;
  readonly room: string;
  readonly participant: string;
}

/** The records of one batch; no two batches share an id. */
function batch(number: number): Row[] {
  return Array.from({ length: BATCH }, (_, index) => ({
    id: `relay-7.boot-3.s${pad(index % 500, 4)}.i${pad(number * 10 + Math.floor(index / 500), 6)}`,
    room: `room-${index % 40}`,
    participant: `user-${index % 500}`,
  }));
}

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}

/** The batches of one round. */
function batchesOf(round: number): Row[][] {
  return Array.from({ length: BATCHES_PER_ROUND }, (_, index) => batch(round * BATCHES_PER_ROUND + index));
}

async function floor(bench: Bench, stand: Stand, { tenant }: BenchTenant): Promise<Contestant> {
  const client = new pg.Client(stand.databaseUrl);
  await bench.use(client.connect(), () => client.end());
  await client.query(`create table bare (
    tenant_id bigint not null, posting_seq bigint not null, egress_bytes bigint, ingress_bytes bigint, amount bigint,
    seconds integer, line smallint, role "char", tier "char", capped boolean, id text collate "C" not null, room text,
    participant text, unique (tenant_id, id))`);
  return {
    name: 'raw COPY',
    role: 'floor',
    round: async (round) => {
      const texts = batchesOf(round).map((rows) =>
        rows.map((row, line) => copyLine(tenant, round, row, line)).join(''),
      );
      const start = performance.now();
      for (const text of texts) await pipeline([text], client.query(copyFrom('copy bare from stdin')));
      return { value: (BATCH * texts.length) / ((performance.now() - start) / 1000) };
    },
  };
}

function copyLine(tenant: bigint, round: number, row: Row, line: number): string {
  return `${tenant}\t${round + 1}\t11250000\t90000\t210\t60\t${line}\ta\th\tf\t${row.id}\t${row.room}\t${row.participant}\n`;
}

function server(name: string, role: 'ours' | 'peer', url: string, token: string | undefined): Contestant {
  return {
    name,
    role,
    round: async (round) => {
      const requests = batchesOf(round).map((rows) =>
        requestBytes('POST', `${url}/v1/usage`, {
          token,
          json: JSON.stringify({ records: rows.map(record) }),
        }),
      );
      const { rate, latencies } = await runLoad({
        urls: [url],
        connections: 1,
        request: (index) => requests[index]!,
        until: { requests: requests.length },
        statuses: [200],
        isRight: (body) => JSON.parse(body).charged === BATCH,
      });
      return { value: rate * BATCH, latencies };
    },
  };
}

function record(row: Row) {
  return {
    ...row,
    role: 'audience',
    tier: 'hd',
    seconds: 60,
    egress_bytes: 11_250_000,
    ingress_bytes: 90_000,
  };
}
