import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { connect, createServer, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { inTransaction } from '../../src/base/db/transaction.ts';
import { StartError } from '../../src/base/lib/start-error.ts';
import { BUILT_IN_RATES } from '../../src/money/pricing/rate-card.ts';
import { findRateCards } from '../../src/money/pricing/rate-cards.sql.ts';
import { loadRates } from '../../src/money/pricing/rate-cards.ts';
import { ListenError, type Service, type ServiceConfig, startService } from '../../src/run/service.ts';
import { bareConfig } from '../support/bare-config.ts';
import { useDatabase } from '../support/database.ts';
import { countLockWaiters } from '../support/lock-waiters.ts';
import { ask, usageRecord } from '../support/service.ts';
import { makeKey, makeTenant, OPERATOR } from '../support/tenants.ts';

const database = useDatabase();

/** Generous, for slow machines. */

function start(changes: Partial<ServiceConfig> = {}): Promise<Service> {
  return startService({ ...bareConfig(database.url), ...changes }, pino({ level: 'silent' }));
}

const urlOf = (port: number, path: string) => `http://127.0.0.1:${port}${path}`;

async function connectionsOfServices(): Promise<number> {
  const { rows } = await database.pool.query(
    `select count(*) from pg_stat_activity
      where datname = current_database() and application_name = 'boxoffice' and pid <> pg_backend_pid()`,
  );
  return Number(rows[0].count);
}

it('is loaded before it listens', async () => {
  const listen = vi.spyOn(Server.prototype, 'listen');
  const whenLoaded = vi.fn();
  const service = await startService(bareConfig(database.url), pino({ level: 'silent' }), { whenLoaded });
  await service.stop();
  const [loaded] = whenLoaded.mock.invocationCallOrder;
  const listened = listen.mock.invocationCallOrder;
  listen.mockRestore();
  expect(whenLoaded).toHaveBeenCalledOnce();
  expect(listened.length).toBeGreaterThan(0);
  expect(Math.min(...listened)).toBeGreaterThan(loaded!);
});

describe('a start with a rates file', () => {
  it('that holds an earlier card warns, and keeps the current card', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'boxoffice-rates-'));
    const ratesFile = join(folder, 'rates.json');
    await writeFile(ratesFile, JSON.stringify(BUILT_IN_RATES));
    await (await start({ ratesFile })).stop();
    await loadRates(database.pool, OPERATOR, { ...BUILT_IN_RATES, platform_fee_per_gib: '0.07' });

    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    const service = await startService({ ...bareConfig(database.url), ratesFile }, log);
    const answer = await ask(urlOf(service.port, '/v1/rates'), 'GET');
    await service.stop();
    await rm(folder, { recursive: true });
    expect(answer.json.platform_fee_per_gib.micros).toBe(70_000);
    expect(lines.join('')).toContain('it is the old version 1, and version 2 is in effect');
    expect(await findRateCards(database.pool)).toHaveLength(2);
  });
});

describe('stop', () => {
  it('answers requests in progress, and accepts no more', async () => {
    const service = await start();
    const id = await makeTenant(database.pool);
    const key = await makeKey(database.pool, id, 'relay');
    let stopped = false;
    let stopping: Promise<void> | undefined;
    let answer: ReturnType<typeof ask> | undefined;

    // While another transaction holds the account, a charge waits for it.
    await inTransaction(database.pool, async (tx) => {
      await tx.query('select 1 from accounts where tenant_id = $1 for update', [id]);
      answer = ask(urlOf(service.port, '/v1/usage'), 'POST', {
        key: key.plaintext,
        body: { records: [usageRecord()] },
      });
      await expect.poll(waitingForLocks).toBe(1);
      stopping = service.stop().then(() => {
        stopped = true;
      });
      await expect.poll(() => refusesConnections(service.port)).toBe(true);
      const { status, json } = await ask(urlOf(service.opsPort!, '/readyz'), 'GET');
      expect({ status, json }).toEqual({ status: 503, json: { status: 'not ready', reason: 'stopping' } });
      expect(stopped).toBe(false);
    });

    expect(await answer).toMatchObject({ status: 200, json: { charged: 1 } });
    await stopping;
    expect(await refusesConnections(service.opsPort!)).toBe(true);
    const { rows } = await database.pool.query(
      'select count(*)::integer from usage_records where tenant_id = $1',
      [id],
    );
    expect(rows).toEqual([{ count: 1 }]);
  });

  it('is no failure where its end cannot be noted', async () => {
    const before = await connectionsOfServices();
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    const service = await startService(bareConfig(database.url), log);
    await database.pool.query('alter table processes rename to hidden');
    onTestFinished(async () => void (await database.pool.query('alter table hidden rename to processes')));
    await service.stop();
    expect(lines.map((line) => JSON.parse(line).msg)).toContain('the end of this process could not be noted');
    await expect.poll(connectionsOfServices).toBeLessThanOrEqual(before);
  });

  it('does not call a connection lost that it closes itself', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    const service = await startService(bareConfig(database.url), log);
    const { db } = service.deps;
    // As the driver reports a server that stops.
    db.emit('error', new Error('before'), null as never);
    await service.stop();
    db.emit('error', new Error('after'), null as never);
    expect(lines.map((line) => JSON.parse(line).err.message)).toEqual(['before']);
  });

  it('does not wait for idle keep-alive connections', async () => {
    const service = await start();
    const idle = connect(service.port, '127.0.0.1');
    await once(idle, 'connect');
    idle.write('GET /v1/rates HTTP/1.1\r\nhost: service.test\r\n\r\n');
    await once(idle, 'data');
    const closed = once(idle, 'close');
    idle.resume();
    await service.stop();
    await closed;
  });

  const waitingForLocks = () => countLockWaiters(database.pool);

  function refusesConnections(port: number): Promise<boolean> {
    const socket = connect(port, '127.0.0.1');
    return new Promise((resolve) => {
      socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
    }).finally(() => socket.destroy()) as Promise<boolean>;
  }
});

describe('a port that is taken', () => {
  let holder: Server;
  let taken: number;

  beforeEach(async () => {
    holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    taken = (holder.address() as AddressInfo).port;
  });
  afterEach(() => {
    holder.close();
  });

  it.each([
    ['PORT', () => ({ port: taken })],
    ['OPS_PORT', () => ({ opsPort: taken })],
    ['JOIN_PORT', () => ({ joinAddress: { host: '127.0.0.1', port: taken } })],
  ])('stops the start and names %s', async (variable, changes) => {
    const before = await connectionsOfServices();
    const error = await start(changes()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ListenError);
    expect((error as Error).message).toBe(`port ${taken} is taken: set ${variable} to another one`);
    // No listener stays open.
    await expect.poll(connectionsOfServices).toBeLessThanOrEqual(before);
  });

  it('is distinguished from an unavailable address', async () => {
    const error = await start({ host: '192.0.2.1' }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ListenError);
    expect((error as Error).message).toContain('(PORT)');
  });
});

describe('a second service on the same database', () => {
  it('does not start with another SECRETS_KEY', async () => {
    const service = await start();
    const before = await connectionsOfServices();
    const error = await start({ secretsKey: Buffer.alloc(32, 1) }).catch((thrown: unknown) => thrown);
    await service.stop();
    expect(error).toBeInstanceOf(StartError);
    expect((error as Error).message).toMatch(
      /^SECRETS_KEY is not the one that the signing key [\w-]{43} was encrypted with$/,
    );
    await expect.poll(connectionsOfServices).toBeLessThanOrEqual(before);
  });

  it('starts at the same time and serves the same data', async () => {
    const services = await Promise.all([start(), start()]);
    const [one, two] = await Promise.all(services.map((each) => ask(urlOf(each.port, '/v1/rates'), 'GET')));
    await Promise.all(services.map((each) => each.stop()));
    expect(one!.status).toBe(200);
    expect(two!.json).toEqual(one!.json);
  });
});
