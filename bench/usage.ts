/**
 * Charging large batches, beside the floor.
 *
 * Protocol: one client sends batches of 5,000 new records of one tenant to `POST /v1/usage`, each
 * after the answer to the one before. The floor is a raw `COPY` of the same rows, by one client, into
 * a bare table of the same columns with one unique index on (tenant, id), on the same server and
 * committed batch by batch. Both are run in turns; the medians are compared.
 */
import { Agent, request } from 'node:http';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { median, openStand, relayTenant, type Stand } from './stand.ts';

const BATCH = 5_000;
const WARM_UP = 4;
const ROUNDS = 24;

interface Row {
  readonly id: string;
  readonly room: string;
  readonly participant: string;
}

export interface Result {
  readonly name: string;
  /** Records a second, median. */
  readonly ours: number;
  readonly floor: number;
  readonly ratio: number;
  readonly spread: { readonly ours: readonly [number, number]; readonly floor: readonly [number, number] };
  readonly memoryMb: number;
}

export async function benchUsage(progress: (text: string) => void): Promise<Result> {
  const stand = await openStand();
  try {
    return await run(stand, progress);
  } finally {
    await stand.close();
  }
}

async function run(stand: Stand, progress: (text: string) => void): Promise<Result> {
  const { key, tenant } = await relayTenant(stand);
  const copier = new pg.Client(stand.databaseUrl);
  await copier.connect();
  await copier.query(`create table bare (
    tenant_id bigint not null, posting_seq bigint not null, egress_bytes bigint, ingress_bytes bigint, amount bigint,
    seconds integer, line smallint, role "char", tier "char", capped boolean, id text collate "C" not null, room text,
    participant text, unique (tenant_id, id))`);

  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ours: number[] = [];
  const floor: number[] = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    progress(`usage: round ${round + 1} of ${WARM_UP + ROUNDS}`);
    const rows = batch(round);
    const body = Buffer.from(JSON.stringify({ records: rows.map(record) }));
    const text = rows.map((row, line) => copyLine(tenant, round, row, line)).join('');
    const times = {
      floor: await time(() => copy(copier, text)),
      ours: await time(() => post(stand.url, key, body, agent)),
    };
    if (round < WARM_UP) continue;
    ours.push(BATCH / times.ours);
    floor.push(BATCH / times.floor);
  }
  agent.destroy();
  await copier.end();
  return {
    name: `5,000-record batches, one client`,
    ours: median(ours),
    floor: median(floor),
    ratio: median(ours) / median(floor),
    spread: { ours: [Math.min(...ours), Math.max(...ours)], floor: [Math.min(...floor), Math.max(...floor)] },
    memoryMb: await stand.memory(),
  };
}

function batch(round: number): Row[] {
  return Array.from({ length: BATCH }, (_, index) => ({
    id: `relay-7.boot-3.s${String(index % 500).padStart(4, '0')}.i${String(round * 10 + Math.floor(index / 500)).padStart(6, '0')}`,
    room: `room-${index % 40}`,
    participant: `user-${index % 500}`,
  }));
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

function copyLine(tenant: bigint, round: number, row: Row, line: number): string {
  return `${tenant}\t${round + 1}\t11250000\t90000\t210\t60\t${line}\ta\th\tf\t${row.id}\t${row.room}\t${row.participant}\n`;
}

async function copy(client: pg.Client, text: string): Promise<void> {
  await pipeline([text], client.query(copyFrom('copy bare from stdin')));
}

function post(url: string, key: string, body: Buffer, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}/v1/usage`,
      {
        method: 'POST',
        agent,
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'content-length': body.length,
        },
      },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        answer.on('end', () => {
          const isCharged = answer.statusCode === 200 && JSON.parse(text).charged === BATCH;
          if (isCharged) resolve();
          else reject(new Error(`usage answered ${answer.statusCode}: ${text}`));
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Seconds that `work` takes. */
async function time(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}
