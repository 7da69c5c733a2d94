/** How soon a webhook tells of what happened. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { inTransaction } from '../src/base/db/transaction.ts';
import { adjustCredit } from '../src/money/ledger/adjust-credit.ts';
import { createWebhook } from '../src/outward/webhooks/create-webhook.ts';
import { callerOf } from '../test/support/tenants.ts';
import type { Bench, Benchmark } from './benchmark.ts';
import { depsOn } from './settings.ts';
import { type BenchTenant, makeBenchTenant, openService, openStand, type Stand } from './stand.ts';
import { percentile } from './statistics.ts';
import { makeRows } from './usage-records.ts';

const TENANTS = 10;
const SAMPLES = 500;
const WARM_UP = 50;
const P99_MS_MAX = 250;
const OPERATOR = { kind: 'operator', id: 'bench' } as const;

export const webhooks: Benchmark = {
  name: 'webhooks',
  minutes: 1,
  summary: 'from the answer of POST /v1/usage to the request that tells of spent credit',
  protocol: `${TENANTS} tenants have a webhook for \`credit_spent\`. ${SAMPLES} times, one after the other, a tenant with one micro
    of credit reports a record that costs more. The result is the time from the answer of POST /v1/usage, which comes after
    the commit, until the head of the webhook's request has arrived at a receiver in this process. The floor is the least that
    could tell: NOTIFY on one connection, and a POST without signature when it arrives at another one, measured from the answer
    to NOTIFY. There is one round.`,
  async run(bench) {
    const stand = await openStand(bench);
    const receiver = await openReceiver(bench);
    const tenants = await Promise.all(Array.from({ length: TENANTS }, () => makeBenchTenant(stand, 'relay')));
    for (const tenant of tenants) await subscribe(stand, tenant, receiver.url);
    const { urls } = await openService(bench, stand);
    bench.progress('spending credit');
    const ours = await sample((at) => spendCredit(stand, urls[0]!, tenants[at % TENANTS]!, at), receiver);
    bench.progress('notifying');
    const notify = await openNotifier(bench, stand, receiver.url);
    const floor = await sample(notify, receiver);
    for (const percent of [50, 99]) {
      bench.note(`floor: NOTIFY and POST, p${percent}`, percentile(floor, percent), 'ms');
      const limit = percent === 99 ? { atMost: P99_MS_MAX } : undefined;
      bench.note(`webhook, p${percent}`, percentile(ours, percent), 'ms', limit);
    }
  },
};

interface Receiver {
  readonly url: string;
  /** When the next request arrives. */
  next(): Promise<number>;
}

async function openReceiver(bench: Bench): Promise<Receiver> {
  let arrived = (_at: number) => {};
  const server = createServer((request, response) => {
    arrived(performance.now());
    request.resume();
    response.writeHead(204).end();
  });
  const opening = async (): Promise<Server> => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  await bench.use(opening(), async (opened) => {
    opened.closeAllConnections();
    opened.close();
  });
  const next = () =>
    new Promise<number>((resolve) => {
      arrived = resolve;
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, next };
}

/** Sorted times in ms. `act` resolves to the time of its answer. */
async function sample(act: (at: number) => Promise<number>, receiver: Receiver): Promise<Float64Array> {
  const times: number[] = [];
  for (let at = 0; at < WARM_UP + SAMPLES; at += 1) {
    const arrival = receiver.next();
    const answered = await act(at);
    const time = (await arrival) - answered;
    // The request may arrive before the answer has been read.
    if (at >= WARM_UP) times.push(Math.max(0, time));
  }
  return Float64Array.from(times).sort();
}

async function subscribe(stand: Stand, { tenant, keyId }: BenchTenant, url: string): Promise<void> {
  const caller = { ...callerOf(tenant), keyId };
  const settings = { url, types: ['credit_spent'], description: '' };
  await inTransaction(stand.db, (tx) => createWebhook(tx, depsOn(stand.db), caller, settings));
}

async function spendCredit(
  stand: Stand,
  url: string,
  { tenant, key }: BenchTenant,
  at: number,
): Promise<number> {
  const { rows } = await stand.db.query<{ balance: bigint }>(
    'select balance from accounts where tenant_id = $1',
    [tenant],
  );
  const adjustment = { amount: 1n - rows[0]!.balance, reason: 'bench', id: undefined };
  await adjustCredit(stand.db, OPERATOR, tenant, adjustment);
  const records = makeRows(0, at, 1).map((row) => ({
    ...row,
    role: 'audience',
    tier: 'hd',
    seconds: 60,
    egress_bytes: 11_250_000,
    ingress_bytes: 90_000,
  }));
  const answer = await fetch(`${url}/v1/usage`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ records }),
  });
  const answered = performance.now();
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
  return answered;
}

async function openNotifier(bench: Bench, stand: Stand, url: string): Promise<() => Promise<number>> {
  const listener = await bench.use(connect(stand), (client) => client.end());
  const notifier = await bench.use(connect(stand), (client) => client.end());
  await listener.query('listen bench');
  listener.on(
    'notification',
    () => void fetch(url, { method: 'POST', body: '{}' }).then((each) => each.text()),
  );
  return async () => {
    await notifier.query('notify bench');
    return performance.now();
  };
}

async function connect(stand: Stand): Promise<pg.Client> {
  const client = new pg.Client(stand.databaseUrl);
  await client.connect();
  return client;
}
