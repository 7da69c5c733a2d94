/** Distributed tables on a Citus cluster of this machine: what fails or moves under load, loses nothing, archived usage records included. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFailed, test } from 'vitest';
import { findMissingCitus, type Worker } from './citus-cluster.ts';
import { CitusStage } from './citus-stage.ts';
import { post } from './post.ts';

const missing = findMissingCitus();

/** How long a worker is away. */
const AWAY_MS = 5_000;
/** The longest stop of tenants that a failure does not concern, on a busy machine. */
const UNDISTURBED_MS = 4_000;

describe.skipIf(missing !== undefined)('two services on a coordinator and two workers', () => {
  let stage: CitusStage;
  beforeAll(async () => {
    stage = await CitusStage.open();
  });
  afterAll(() => stage?.close());
  beforeEach(async () => {
    onTestFailed(() => console.error(stage.cluster.logs()));
    await stage.goesOn();
  });

  test('a worker is killed: its tenants get 503 until it is back, others go on', async () => {
    const { server } = stage.cluster.workers[0];
    const { own, others } = stage.divide(stage.cluster.workers[0]);
    const begun = performance.now();
    await server.kill();
    await sleep(AWAY_MS);
    const pause = stage.load.longestPause(others, begun);
    const refusals = stage.load.refusalsSince(begun);
    await server.start();
    await stage.goesOn();
    expect(pause).toBeLessThan(UNDISTURBED_MS);
    expect(new Set(refusals.map(({ tenant }) => tenant))).toEqual(new Set(own));
    expect(refusals.filter(({ message }) => !message.includes(': 503 '))).toEqual([]);
    await stage.hasNothingPrepared();
  });

  test('a worker is away: what needs it is 503, to be repeated, and the rest is answered', async () => {
    const { server } = stage.cluster.workers[0];
    const [own] = stage.tenants.filter(({ worker }) => worker.server === server);
    const [other] = stage.tenants.filter(({ worker }) => worker.server !== server);
    const ask = async (path: string, key: string, body?: object) => {
      const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) };
      const method = body ? 'POST' : 'GET';
      const answer = await fetch(`${stage.url}${path}`, { method, headers, body: JSON.stringify(body) });
      return [
        answer.status,
        answer.headers.get('retry-after'),
        ((await answer.json()) as { error?: string }).error,
      ];
    };
    const away = [503, '2', 'a database server is away: try again'];
    await server.kill();
    try {
      const READS = ['billing', 'alerts', 'budgets', 'grants', 'webhooks', 'events', 'ledger', 'statements']
        .concat('sessions', 'usage/summary', 'usage/records', 'usage/conflicts')
        .map((each) => `/v1/${each}`);
      for (const path of READS) {
        expect([path, ...(await ask(path, own!.backendKey))]).toEqual([path, ...away]);
        expect([path, ...(await ask(path, other!.backendKey))]).toEqual([path, 200, null, undefined]);
      }
      // Each server has all keys and tenants.
      const CHANGES = [
        ['/v1/keys', { name: 'new', kind: 'relay' }],
        ['/v1/signup', { name: 'new', email: 'ada@example.com' }],
      ] as const;
      for (const [path, body] of CHANGES)
        expect([path, ...(await ask(path, other!.backendKey, body))]).toEqual([path, ...away]);
    } finally {
      await server.start();
    }
    await stage.goesOn();
    await stage.hasNothingPrepared();
  });

  test.each([
    ['is killed', ({ server }: Worker) => server.kill(), ({ server }: Worker) => server.start()],
    ['does not answer', ({ relay }: Worker) => relay.cut(), ({ relay }: Worker) => relay.mend()],
  ])('a worker %s: all processes and operators know it, and nothing waits for it', async (_, end, begin) => {
    const { workers } = stage.cluster;
    const shows = (of: Worker, value: string) => ({ [`127.0.0.1:${of.port}`]: value });
    const all = { ...shows(workers[0], '1'), ...shows(workers[1], '1') };
    await expect.poll(() => stage.serversShown()).toEqual([all, all]);
    await end(workers[0]);
    try {
      const known = { ...all, ...shows(workers[0], '0') };
      await expect.poll(() => stage.serversShown()).toEqual([known, known]);
      expect(await stage.showOverview()).toMatch(
        new RegExp(
          `Database servers</th>.*?badge bad.*?127.0.0.1:${workers[0].port} is away for \\d+ s; of 2`,
          's',
        ),
      );
      const { own } = stage.divide(workers[0]);
      // What was sent before is answered by then, and one batch at a time tries, for each of two services.
      await sleep(AWAY_MS * 2);
      const begun = performance.now();
      await sleep(AWAY_MS);
      const refused = stage.load
        .refusalsSince(begun)
        .filter(({ message }) => message.includes('server is away'));
      expect(new Set(refused.map(({ tenant }) => tenant)).size).toBeGreaterThanOrEqual(own.length - 2);
      const asked = performance.now();
      const { backendKey } = stage.tenants.find(({ worker }) => worker !== workers[0])!;
      await expect(post(`${stage.url}/v1/keys`, backendKey, { name: 'new', kind: 'relay' })).rejects.toThrow(
        /503 .*a database server is away: try again/,
      );
      expect(performance.now() - asked).toBeLessThan(1_000);
    } finally {
      await begin(workers[0]);
    }
    await expect.poll(() => stage.serversShown()).toEqual([all, all]);
    await stage.goesOn();
    await stage.hasNothingPrepared();
  });

  test('a worker is away: the usage of others is added up meanwhile', async () => {
    const { server } = stage.cluster.workers[0];
    const { others } = stage.divide(stage.cluster.workers[0]);
    await server.kill();
    try {
      const time = new Date();
      await expect.poll(() => stage.countBehind(others, time)).toBe(0);
    } finally {
      await server.start();
    }
    await stage.goesOn();
    await stage.hasNothingPrepared();
  });

  test('a worker is cut off: others go on, and its tenants do when it is reached again', async () => {
    const { relay } = stage.cluster.workers[1];
    const { others } = stage.divide(stage.cluster.workers[1]);
    const begun = performance.now();
    relay.cut();
    await sleep(AWAY_MS);
    const pause = stage.load.longestPause(others, begun);
    relay.mend();
    await stage.goesOn();
    expect(pause).toBeLessThan(UNDISTURBED_MS);
    await stage.hasNothingPrepared();
  });

  test('the shard of a tenant is moved to the other worker', async () => {
    const [{ tenant, worker: from }] = stage.tenants as [CitusStage['tenants'][0]];
    const to = stage.cluster.workers.find((worker) => worker !== from)!;
    await stage.cluster.moveShardOf(tenant, from, to);
    expect(await stage.cluster.workerOf(tenant)).toBe(to);
    await stage.goesOn();
  });

  test('a tenant gets a shard of its own', async () => {
    // There are more tenants than shards.
    const tenant = await stage.findNeighbour();
    await stage.cluster.isolate(tenant);
    expect(await stage.cluster.tenantsBeside(tenant)).toEqual([]);
    await stage.goesOn();
  });

  test('a worker is added, and some tenants move to it', async () => {
    const { cluster, tenants } = stage;
    const added = await cluster.grow();
    const workers = await Promise.all(tenants.map(({ tenant }) => cluster.workerOf(tenant)));
    expect(workers).toContain(added);
    await stage.goesOn();
    // Distributing turned it off on the servers that were there.
    expect(await added.server.query('show jit')).toEqual([{ jit: 'off' }]);
  });

  // A new key is written to every server: each prepares it, the coordinator decides, and then each commits.
  test.each([
    ['before a worker has prepared: a change of all servers is made on none', 'PREPARE TRANSACTION', 0],
    ['before a worker has committed: a change of all servers is made on all', 'COMMIT PREPARED', 1],
  ])('the coordinator is killed %s', async (_, statement, made) => {
    const { cluster } = stage;
    const { coordinator, workers } = cluster;
    const reached = workers[1].relay.cutBefore(['INSERT INTO public.api_keys', statement]);
    const { backendKey } = stage.tenants[2]!;
    const name = `on ${made} of 1`;
    const answer = post(`${stage.url}/v1/keys`, backendKey, { name, kind: 'relay' });
    const failed = expect(answer).rejects.toThrow();
    await reached;
    await coordinator.kill();
    workers[1].relay.mend();
    await failed;
    await coordinator.start();
    await stage.goesOn();
    await stage.hasNothingPrepared();
    expect(await cluster.countEverywhere('api_keys', name)).toEqual(cluster.servers.map(() => made));
  });

  test('everything adds up while relays report', async () => {
    expect(await stage.admin('verify')).toMatchObject({ code: 0 });
  });

  test('the coordinator is killed: all go on when it is back', async () => {
    const { coordinator } = stage.cluster;
    await coordinator.kill();
    await coordinator.start();
    await stage.goesOn();
    await stage.hasNothingPrepared();
  });

  test('nothing is lost or doubled, and a backup of all servers has all until its restore point', async () => {
    const { cluster, load } = stage;
    await cluster.backUp();
    await stage.goesOn();
    const before = load.acknowledged();
    await cluster.setRestorePoint('together');
    await stage.goesOn();
    const { records, archived, problems } = await stage.settle();
    expect(problems).toEqual([]);
    expect(records).toBeGreaterThan(1_000);
    expect(archived).toBeGreaterThan(records / 2);

    await cluster.restore('together');
    const restored = await stage.storedRecords();
    expect([...before.difference(restored)]).toEqual([]);
    expect([...restored.difference(load.acknowledged())]).toEqual([]);
    expect(restored.size).toBeLessThan(records);
    expect(await stage.admin('verify')).toMatchObject({ code: 0 });
  });
});
