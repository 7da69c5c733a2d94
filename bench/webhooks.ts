/** How soon a webhook tells of what happened, and how fast in each order. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { inTransaction } from '../src/base/db/transaction.ts';
import { appendEvents } from '../src/events/append-events.sql.ts';
import { numberEvents } from '../src/events/number-events.ts';
import { adjustCredit } from '../src/money/ledger/adjust-credit.ts';
import { createWebhook } from '../src/outward/webhooks/create-webhook.ts';
import {
  IN_FLIGHT_MAX,
  WEBHOOK_DEFAULTS,
  type WebhookOrder,
  type WebhookSettings,
} from '../src/outward/webhooks/webhook.ts';
import { callerOf } from '../test/support/tenants.ts';
import type { Bench, Benchmark } from './benchmark.ts';
import { depsOn } from './settings.ts';
import {
  type BenchProcess,
  type BenchTenant,
  makeBenchTenant,
  openProcess,
  openStand,
  type Stand,
} from './stand.ts';
import { percentile } from './statistics.ts';
import { makeRows } from './usage-records.ts';

const TENANTS = 10;
const SAMPLES = 500;
const WARM_UP = 50;
const P99_MS_MAX = 250;
/** How long the receiver takes whose speed is measured. */
const RECEIVER_MS = 50;
const ROOMS = 50;
const STANDSTILL_SECONDS_MAX = 5;
/** Webhooks of a crowd, of which one in ten is dead: its receiver refuses connections, or never answers. */
const CROWD_TENANTS = 200;
const CROWD_WEBHOOKS = 10;
const SECOND_MS = 1_000;
const OPERATOR = { kind: 'operator', id: 'bench' } as const;

export const webhooks: Benchmark = {
  name: 'webhooks',
  minutes: 2,
  summary: 'from the answer of POST /v1/usage to the request that tells of spent credit',
  protocol: `${TENANTS} tenants have a webhook for \`credit_spent\`. ${SAMPLES} times, one after the other, a tenant with one micro
    of credit reports a record that costs more. The result is the time from the answer of POST /v1/usage, which comes after
    the commit, until the head of the webhook's request has arrived at a receiver in this process. The floor is the least that
    could tell: NOTIFY on one connection, and a POST without signature when it arrives at another one, measured from the answer
    to NOTIFY. There is one round.

    Then a webhook of one tenant, whose receiver takes ${RECEIVER_MS} ms, has thousands of events before it, in each order, with
    ${IN_FLIGHT_MAX} requests at once and events of ${ROOMS} rooms in turns. The result is the rate at which they arrive, without
    the first tenth. At last there are two processes, and the one that delivers in no order is killed: the result is the longest time
    in which nothing arrives. Before that, ${CROWD_TENANTS} tenants have ${CROWD_WEBHOOKS} webhooks each, of which one is dead: half of these refuse
    connections, and half never answer. Tenants spend their credit one after the other, and the result is the time until each of the others
    has the event.`,
  async run(bench) {
    const stand = await openStand(bench);
    const receiver = await openReceiver(bench);
    const tenants = await Promise.all(Array.from({ length: TENANTS }, () => makeBenchTenant(stand, 'relay')));
    for (const tenant of tenants) await subscribe(stand, tenant, receiver.url);
    const service = await openProcess(bench, stand, './service.ts');
    bench.progress('spending credit');
    const ours = await sample((at) => spendCredit(stand, service.url, tenants[at % TENANTS]!, at), receiver);
    bench.progress('notifying');
    const notify = await openNotifier(bench, stand, receiver.url);
    const floor = await sample(notify, receiver);
    for (const percent of [50, 99]) {
      bench.note(`floor: NOTIFY and POST, p${percent}`, percentile(floor, percent), 'ms');
      const limit = percent === 99 ? { atMost: P99_MS_MAX } : undefined;
      bench.note(`webhook, p${percent}`, percentile(ours, percent), 'ms', limit);
    }
    const slow = await openSlowReceiver(bench);
    for (const each of SPEEDS) {
      bench.progress(`order ${each.order}`);
      const rate = await measureSpeed(stand, slow, each);
      bench.note(`order ${each.order}`, rate, 'events/s');
      const limit = { atMost: SECOND_MS / each.rateMin };
      bench.note(`order ${each.order}, for each event`, SECOND_MS / rate, 'ms', limit);
    }
    bench.progress('a crowd with dead webhooks');
    const crowd = await measureCrowd(bench, stand, service.url);
    for (const percent of [50, 99]) {
      const limit = percent === 99 ? { atMost: P99_MS_MAX } : undefined;
      bench.note(
        `a tenth of 2,000 is dead: the others, p${percent}`,
        percentile(crowd, percent),
        'ms',
        limit,
      );
    }
    bench.progress('killing one of two processes');
    const standstill = await measureStandstill(bench, stand, slow, service);
    bench.note('longest stand-still after kill -9', standstill, 's', { atMost: STANDSTILL_SECONDS_MAX });
  },
};

interface Speed {
  readonly order: WebhookOrder;
  readonly events: number;
  readonly rateMin: number;
}

const SPEEDS: readonly Speed[] = [
  // One connection can do 20 a second.
  { order: 'tenant', events: 200, rateMin: 17 },
  { order: 'room', events: 5_000, rateMin: 200 },
  { order: 'none', events: 5_000, rateMin: 300 },
];

interface SlowReceiver {
  readonly url: string;
  /** When each request so far arrived. */
  arrivals: number[];
}

async function openSlowReceiver(bench: Bench): Promise<SlowReceiver> {
  const receiver = { url: '', arrivals: [] as number[] };
  const server = createServer((request, response) => {
    receiver.arrivals.push(performance.now());
    request.resume();
    setTimeout(() => response.writeHead(204).end(), RECEIVER_MS);
  });
  await bench.use(listen(server), async (opened) => {
    opened.closeAllConnections();
    opened.close();
  });
  receiver.url = urlOf(server);
  return receiver;
}

async function measureSpeed(stand: Stand, receiver: SlowReceiver, { order, events }: Speed): Promise<number> {
  receiver.arrivals = [];
  const { tenant } = await makeBehind(stand, receiver.url, order, events);
  while (receiver.arrivals.length < events) await wait(20);
  await stand.db.query(
    `update webhook_cursors set paused_by = 'tenant', paused_at = now() where tenant_id = $1`,
    [tenant],
  );
  const [first, last] = [Math.floor(events / 10), events - 1];
  return (SECOND_MS * (last - first)) / (receiver.arrivals[last]! - receiver.arrivals[first]!);
}

/** A tenant whose webhook has so many events before it. */
async function makeBehind(
  stand: Stand,
  url: string,
  order: WebhookOrder,
  events: number,
): Promise<BenchTenant> {
  const tenant = await makeBenchTenant(stand, 'backend');
  await subscribe(stand, tenant, url, { order, maxInFlight: IN_FLIGHT_MAX });
  const made = Array.from({ length: events }, (_, at) => ({
    type: 'credit_spent',
    roomUid: `room-${at % ROOMS}`,
    subject: { balance: '1', admitted: false },
  }));
  await appendEvents(stand.db, tenant.tenant, made);
  await numberEvents(stand.db, [tenant.tenant]);
  return tenant;
}

/** Sorted times in ms from the answer of a charge to each webhook that lives. */
async function measureCrowd(bench: Bench, stand: Stand, url: string): Promise<Float64Array> {
  let arrived = (_at: number) => {};
  const sockets = new Set<Socket>();
  const live = createServer((request, response) => {
    arrived(performance.now());
    request.resume();
    response.writeHead(204).end();
  });
  const hanging = createServer(() => {});
  const gone = createServer();
  for (const server of [live, hanging, gone]) {
    server.on('connection', (socket) => sockets.add(socket));
    await bench.use(listen(server), async (opened) => {
      for (const socket of sockets) socket.destroy();
      opened.close();
    });
  }
  const [liveUrl, hangingUrl, goneUrl] = [live, hanging, gone].map(urlOf) as [string, string, string];
  gone.close();
  const tenants: BenchTenant[] = [];
  for (let at = 0; at < CROWD_TENANTS; at += 1) {
    const tenant = await makeBenchTenant(stand, 'relay');
    await subscribe(stand, tenant, at % 2 === 0 ? hangingUrl : goneUrl);
    for (let other = 1; other < CROWD_WEBHOOKS; other += 1) await subscribe(stand, tenant, liveUrl);
    tenants.push(tenant);
  }
  const times: number[] = [];
  for (let at = 0; at < 3 * CROWD_TENANTS; at += 1) {
    const arrivals: number[] = [];
    const all = new Promise<void>((resolve) => {
      arrived = (time) => {
        if (arrivals.push(time) === CROWD_WEBHOOKS - 1) resolve();
      };
    });
    const answered = await spendCredit(stand, url, tenants[at % CROWD_TENANTS]!, WARM_UP + SAMPLES + at);
    await all;
    // The first round finds out which are dead.
    if (at >= CROWD_TENANTS) times.push(...arrivals.map((time) => Math.max(0, time - answered)));
  }
  return Float64Array.from(times).sort();
}

async function measureStandstill(
  bench: Bench,
  stand: Stand,
  receiver: SlowReceiver,
  service: BenchProcess,
): Promise<number> {
  const { rows } = await stand.db.query<{ id: string }>('select id from processes where gone_at is null');
  const own = rows[0]!.id;
  await openProcess(bench, stand, './service.ts');
  receiver.arrivals = [];
  const { tenant } = await makeBehind(stand, receiver.url, 'none', 20_000);
  const isServing = async () => {
    const { rowCount } = await stand.db.query(
      'select from webhook_cursors where tenant_id = $1 and leased_by = $2 and lease is not null',
      [tenant, own],
    );
    return rowCount === 1;
  };
  while (receiver.arrivals.length === 0 || !(await isServing())) await wait(20);
  await service.kill();
  const killed = receiver.arrivals.length;
  while (receiver.arrivals.length < killed + SAMPLES) await wait(20);
  const after = receiver.arrivals.slice(Math.max(0, killed - 1));
  return Math.max(...after.slice(1).map((at, index) => at - after[index]!)) / SECOND_MS;
}

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
  await bench.use(listen(server), async (opened) => {
    opened.closeAllConnections();
    opened.close();
  });
  const next = () =>
    new Promise<number>((resolve) => {
      arrived = resolve;
    });
  return { url: urlOf(server), next };
}

async function listen(server: Server): Promise<Server> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
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

async function subscribe(
  stand: Stand,
  { tenant, keyId }: BenchTenant,
  url: string,
  flow: Partial<WebhookSettings> = {},
): Promise<void> {
  const caller = { ...callerOf(tenant), keyId };
  const settings = { ...WEBHOOK_DEFAULTS, url, types: ['credit_spent'], ...flow };
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
