/** Cases that compare ways to charge usage with a simple implementation. */
import type { Benchmark, Contestant } from './benchmark.ts';
import { runLoad } from './load.ts';
import { makeNaiveTenant } from './naive-tenant.ts';
import { makeBenchTenant, openProcess, openStand } from './stand.ts';
import { checkLedger, crashCase } from './usage-crash.ts';
import { makeRows, parseCharged, type UsageRow, usageRequest } from './usage-records.ts';

const BATCH = 1_000;
/** Batches per round where one client sends them one after the other. */
const BATCHES = 4;
const TENANTS = 16;
const RELAYS = 8;
const OURS = 'boxoffice';
const NAIVE = 'one transaction a request';

export const usageCases: Benchmark = {
  name: 'usage-cases',
  summary:
    'new, repeated, overlapping and interrupted batches, compared with a lean service without a ledger',
  protocol: `Batches of ${BATCH} records go to POST /v1/usage: (A) ${BATCHES} batches of new records of one tenant, by one
    client; (B) the same batches again; (C) ${BATCHES} batches in which every other record is one of A's; (D) ${TENANTS} clients at
    once, each with ${BATCH / 2} new records of a tenant of its own; (E) ${RELAYS} clients at once with a batch of the same
    tenant each, of which both halves are also sent by a neighbour. All bytes are made before the clock
    starts. The result is records sent per second; each round must charge exactly the new ones. The
    peer is a service of node:http and pg with a pool of 8 connections, whose transaction locks the account, inserts
    the records with ON CONFLICT DO NOTHING and updates the balance, with prepared statements, some of them pipelined;
    it prices the records and answers like ours, on the same server, without a ledger. Another peer has one token for all
    tenants. (F) Four tenants are reported by ${RELAYS} clients when the process is killed with SIGKILL; another is
    started, and everything is sent again. Each id must have been charged once, and the balances must be what
    postings and records add up to; otherwise the benchmark fails. Peers by URL take no part in F.`,
  takesPeers: true,
  rounds: 5,
  async run(bench) {
    const stand = await openStand(bench);
    const ours = await openProcess(bench, stand, './service.ts');
    const naive = await openProcess(bench, stand, './naive.ts');
    const servers: readonly Server[] = [
      {
        name: OURS,
        role: 'ours',
        url: ours.url,
        tokens: await makeTokens(() => makeBenchTenant(stand, 'relay')),
      },
      { name: NAIVE, role: 'peer', url: naive.url, tokens: await makeTokens(() => makeNaiveTenant(stand)) },
      ...bench.peers.map(({ name, url, token }) => {
        return { name, role: 'peer' as const, url, tokens: Array(TENANTS).fill(token) };
      }),
    ];
    for (const each of CASES) {
      await bench.compare({
        title: each.title,
        unit: 'records/s',
        contestants: servers.map((server) => contestant(server, each)),
        goals: [{ of: OURS, to: NAIVE, atLeast: 1 }],
      });
    }
    await crashCase(bench, stand, {
      name: OURS,
      file: './service.ts',
      records: 'usage_records',
      accounts: 'accounts',
      makeBenchTenant: () => makeBenchTenant(stand, 'relay'),
    });
    await crashCase(bench, stand, {
      name: NAIVE,
      file: './naive.ts',
      records: 'naive_records',
      accounts: 'naive_accounts',
      makeBenchTenant: () => makeNaiveTenant(stand),
    });
    await checkLedger(stand.db);
  },
};

interface Case {
  readonly title: string;
  readonly clients: number;
  /** How many tenants. Clients use them in turns. */
  readonly tenants: number;
  /** Batches per round. */
  readonly batches: (round: number) => readonly UsageRow[][];
  /** New records per round. */
  readonly fresh: number;
}

const CASES: readonly Case[] = [
  {
    title: 'A: new records',
    clients: 1,
    tenants: 1,
    batches: (round) => series(0, round),
    fresh: BATCHES * BATCH,
  },
  {
    title: 'B: the same batches again',
    clients: 1,
    tenants: 1,
    batches: (round) => series(0, round),
    fresh: 0,
  },
  {
    title: 'C: every other record a duplicate',
    clients: 1,
    tenants: 1,
    batches: (round) => {
      const fresh = series(1, round);
      return series(0, round).map((rows, index) => everyOther(rows, fresh[index]!));
    },
    fresh: (BATCHES * BATCH) / 2,
  },
  {
    title: `D: ${TENANTS} tenants at once, ${BATCH / 2} records each`,
    clients: TENANTS,
    tenants: TENANTS,
    batches: (round) => times(TENANTS, (client) => makeRows(10 + client, (round * BATCH) / 2, BATCH / 2)),
    fresh: (TENANTS * BATCH) / 2,
  },
  {
    title: `E: ${RELAYS} clients of one tenant at once, overlapping`,
    clients: RELAYS,
    tenants: 1,
    batches: (round) => {
      const halves = times(RELAYS, (place) => makeRows(2, ((round * RELAYS + place) * BATCH) / 2, BATCH / 2));
      return halves.map((half, place) => [...half, ...halves[(place + 1) % RELAYS]!]);
    },
    fresh: (RELAYS * BATCH) / 2,
  },
];

/** The batches of one client in a round. */
function series(relay: number, round: number): UsageRow[][] {
  return times(BATCHES, (index) => makeRows(relay, (round * BATCHES + index) * BATCH, BATCH));
}

function everyOther(even: readonly UsageRow[], odd: readonly UsageRow[]): UsageRow[] {
  return even.map((row, place) => (place % 2 === 0 ? row : odd[place]!));
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

interface Server {
  readonly name: string;
  readonly role: 'ours' | 'peer';
  readonly url: string;
  /** By tenant. */
  readonly tokens: readonly (string | undefined)[];
}

function contestant(
  { name, role, url, tokens }: Server,
  { clients, tenants, batches, fresh }: Case,
): Contestant {
  return {
    name,
    role,
    round: async (round) => {
      const sent = batches(round);
      const requests = sent.map((rows, index) => usageRequest(url, tokens[index % tenants], rows));
      let charged = 0;
      const { seconds, latencies } = await runLoad({
        urls: [url],
        connections: clients,
        request: (index) => requests[index]!,
        until: { requests: requests.length },
        statuses: [200],
        isRight: (body) => {
          charged += parseCharged(body).charged;
          return true;
        },
      });
      if (charged !== fresh) throw new Error(`${name} charged ${charged} records instead of ${fresh}`);
      return { value: sent.flat().length / seconds, latencies };
    },
  };
}

async function makeTokens(makeBenchTenant: () => Promise<{ readonly key: string }>): Promise<string[]> {
  return (await Promise.all(times(TENANTS, makeBenchTenant))).map(({ key }) => key);
}
