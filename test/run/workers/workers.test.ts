/** Several processes behind one port, in operation and in failure. */

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { useDatabase } from '../../support/database.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import { ask, usageRecord } from '../../support/service.ts';
import { makeKey, makeTenant } from '../../support/tenants.ts';
import {
  failToStart,
  isAlive,
  KeptConnection,
  refusesConnections,
  type Started,
  startMain,
} from './support.ts';

const database = useDatabase();

/** Two workers for the tests of a `describe`, which run in order. Valid inside tests. */
function useWorkers(env: Record<string, string> = {}): () => Started {
  const ends: (() => void)[] = [];
  let started: Started;
  beforeAll(async () => {
    started = await startMain({ DATABASE_URL: database.url, ...env }, (end) => ends.push(end));
  });
  afterAll(() => {
    for (const end of ends) end();
  });
  return () => started;
}

/** One that paid: half of the places that wait for locks are for these. */
async function newTenant() {
  const id = await makeTenant(database.pool, { status: 'active' });
  const key = await makeKey(database.pool, id, 'backend');
  const relayKey = await makeKey(database.pool, id, 'relay');
  return { id, key: key.plaintext, relayKey: relayKey.plaintext, relayKeyId: relayKey.id };
}

const connections = (started: Started, count: number) =>
  Array.from({ length: count }, () => new KeptConnection(started.url));

/** From the line `from` of the log on. */
const workersThatAnswered = (started: Started, route: string, from = 0) =>
  new Set(
    started.lines
      .slice(from)
      .filter((line) => line.route === route)
      .map(({ worker }) => worker),
  );

async function requestsOf(started: Started, route: string): Promise<number> {
  const { text } = await ask(`${started.opsUrl}/metrics`, 'GET');
  const lines = text.matchAll(/^boxoffice_http_requests_total\{(.*)\} (\d+)$/gm);
  return [...lines].reduce(
    (sum, [, labels, value]) => (labels!.includes(`route="${route}"`) ? sum + Number(value) : sum),
    0,
  );
}

/** Runs `meanwhile` while a charge of the tenant waits, because another transaction holds the account. */
async function withChargesUnderWay(
  started: Started,
  count: number,
  meanwhile: () => Promise<unknown>,
): Promise<Awaited<ReturnType<KeptConnection['ask']>>[]> {
  const tenants = await Promise.all(Array.from({ length: count }, newTenant));
  const kept = connections(started, count);
  // In turns, so that each worker gets its share.
  for (const each of kept) await each.ask('GET', '/v1/rates');
  let answers: Promise<Awaited<ReturnType<KeptConnection['ask']>>[]> | undefined;
  await inTransaction(database.pool, async (tx) => {
    for (const { id } of tenants) {
      await tx.query('select 1 from accounts where tenant_id = $1 for update', [id]);
    }
    answers = Promise.all(
      kept.map((each, index) =>
        each.ask('POST', '/v1/usage', { key: tenants[index]!.relayKey, body: { records: [usageRecord()] } }),
      ),
    );
    answers.catch(() => {});
    await expect.poll(waitingForLocks).toBe(count);
    await meanwhile();
  });
  return answers!;
}

const waitingForLocks = () => countLockWaiters(database.pool);

describe('two workers', () => {
  const get = useWorkers({ JOIN_PORT: '0' });

  test('answer on one port, appear as one service to operators, and share limits and revocations', async () => {
    const started = get();
    for (const each of connections(started, 6)) expect((await each.ask('GET', '/v1/rates')).status).toBe(200);
    await expect.poll(() => workersThatAnswered(started, '/v1/rates')).toEqual(new Set([1, 2]));
    await expect.poll(() => requestsOf(started, '/v1/rates')).toBe(6);
    expect(await ask(`${started.opsUrl}/healthz`, 'GET')).toMatchObject({ status: 200 });
    expect(await ask(`${started.opsUrl}/readyz`, 'GET')).toMatchObject({
      status: 200,
      json: { status: 'ready' },
    });

    const { key, relayKey, relayKeyId } = await newTenant();
    const kept = connections(started, 4);
    const report = (each: KeptConnection) =>
      each.ask('POST', '/v1/usage', { key: relayKey, body: { records: [usageRecord()] } });
    for (const each of kept) expect((await report(each)).status).toBe(200);
    await expect.poll(() => workersThatAnswered(started, '/v1/usage')).toEqual(new Set([1, 2]));
    expect(
      (await kept[0]!.ask('DELETE', `/v1/keys/${relayKeyId}?confirm=stop-service`, { key })).status,
    ).toBe(204);
    for (const each of kept) expect((await report(each)).status).toBe(401);

    const signUp = (each: KeptConnection) =>
      each.ask('POST', '/v1/signup', { body: { name: 'Ada Video', email: 'ada@example.com' } });
    const statuses: number[] = [];
    for (const each of [...kept, ...kept]) statuses.push((await signUp(each)).status);
    expect(statuses).toEqual([201, 201, 201, 201, 201, 429, 429, 429]);
  });

  test('finish requests in progress after a signal, and accept no more', async () => {
    const started = get();
    let from = 0;
    const answers = await withChargesUnderWay(started, 6, async () => {
      from = started.lines.length;
      started.child.kill('SIGTERM');
      await expect.poll(() => refusesConnections(started.url)).toBe(true);
      expect(await ask(`${started.opsUrl}/readyz`, 'GET')).toMatchObject({
        status: 503,
        json: { reason: 'stopping' },
      });
    });
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, json: { charged: 1 } });
    expect(await started.exited).toStrictEqual([0, null]);
    expect(started.pids().map(isAlive)).toEqual([false, false]);
    expect(workersThatAnswered(started, '/v1/usage', from)).toEqual(new Set([1, 2]));
  });
});

describe('after the death of one', () => {
  const get = useWorkers();

  test('it is replaced, while the other one answers, and its counters stay', async () => {
    const started = get();
    for (const each of connections(started, 4)) await each.ask('GET', '/v1/rates');
    await expect.poll(() => requestsOf(started, '/v1/rates')).toBe(4);
    const ends = () => started.lines.filter(({ msg }) => msg === 'a worker ended and is replaced');

    process.kill(started.pids()[0]!, 'SIGKILL');
    await expect.poll(ends).toMatchObject([{ signal: 'SIGKILL', waitMs: 0 }]);
    let answered = 4;
    while (started.pids().length < 3) {
      expect((await new KeptConnection(started.url).ask('GET', '/v1/rates')).status).toBe(200);
      answered += 1;
    }
    await expect.poll(() => requestsOf(started, '/v1/rates')).toBe(answered);
    expect((await ask(`${started.opsUrl}/readyz`, 'GET')).status).toBe(200);

    process.kill(started.pids()[2]!, 'SIGKILL');
    await expect.poll(ends).toMatchObject([{ waitMs: 0 }, { waitMs: 1_000 }]);
    expect(await ask(`${started.opsUrl}/readyz`, 'GET')).toMatchObject({
      status: 503,
      json: { status: 'not ready', reason: '1 of 2 workers serve' },
    });
    expect((await ask(`${started.opsUrl}/healthz`, 'GET')).status).toBe(200);
    await expect.poll(() => started.pids().length).toBe(4);
  });

  test('a second signal ends both at once', async () => {
    const started = get();
    const answers = withChargesUnderWay(started, 2, async () => {
      // The same one twice within a second is one that npm has handed on.
      started.child.kill('SIGINT');
      await expect.poll(() => started.lines.at(-1)?.msg).toBe('stopping');
      started.child.kill('SIGTERM');
      expect(await started.exited).toStrictEqual([1, null]);
      await expect.poll(() => started.pids().some(isAlive)).toBe(false);
    });
    await expect(answers).rejects.toThrow('socket hang up');
  });
});

describe('after the death of both', () => {
  const get = useWorkers();

  test('the service is unready until they are replaced', async () => {
    const started = get();
    // After a second failure in a row the restart is delayed, so that no worker serves for a second.
    for (const count of [2, 4]) {
      await expect.poll(() => started.pids().length).toBe(count);
      for (const pid of started.pids().slice(-2)) process.kill(pid, 'SIGKILL');
    }
    await expect.poll(async () => (await ask(`${started.opsUrl}/healthz`, 'GET')).status).toBe(503);
    expect((await ask(`${started.opsUrl}/metrics`, 'GET')).status).toBe(200);
    await expect.poll(async () => (await ask(`${started.opsUrl}/readyz`, 'GET')).status).toBe(200);
    expect((await ask(`${started.url}/v1/rates`, 'GET')).status).toBe(200);
  });

  test('a kill of the primary leaves no worker behind, and no request unanswered', async () => {
    const started = get();
    const answers = await withChargesUnderWay(started, 4, async () => {
      started.child.kill('SIGKILL');
      await expect.poll(() => refusesConnections(started.url)).toBe(true);
    });
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await expect.poll(() => started.pids().some(isAlive)).toBe(false);
  });
});

describe('a start that cannot succeed', () => {
  test.each(['PORT', 'OPS_PORT', 'GRPC_PORT', 'JOIN_PORT'])(
    'reports in one line that %s is in use',
    async (variable) => {
      const holder = createServer().listen(0, '127.0.0.1');
      onTestFinished(() => void holder.close());
      await once(holder, 'listening');
      const { port } = holder.address() as AddressInfo;
      const said = `port ${port} is taken: set ${variable} to another one\n`;
      const failure = await failToStart({ DATABASE_URL: database.url, [variable]: String(port) });
      expect(failure).toStrictEqual({ code: 1, said });
    },
  );

  test('without a database is reported in one line', async () => {
    const { code, said } = await failToStart({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' });
    expect(code).toBe(1);
    expect(said).toMatch(/^the database of DATABASE_URL cannot be opened: .*\n$/);
  });
});

test('an embedded database survives, and is taken over by the next start', async () => {
  const env = { DATA_DIR: join(inject('scratch'), 'workers'), PAYMENTS: 'sandbox', SANDBOX_PORT: '0' };
  const first = await startMain(env);
  const { json } = await ask(`${first.url}/v1/signup`, 'POST', {
    body: { name: 'Ada Video', email: 'ada@example.com' },
  });
  first.child.kill('SIGKILL');
  const second = await startMain(env);
  expect((await ask(`${second.url}/v1/billing`, 'GET', { key: json.api_key })).status).toBe(200);
  second.child.kill('SIGTERM');
  expect(await second.exited).toStrictEqual([0, null]);
});
