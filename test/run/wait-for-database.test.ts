import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { StartError } from '../../src/base/lib/start-error.ts';
import { DatabaseReadOnly } from '../../src/run/check-database.ts';
import { closePools, openDatabase } from '../../src/run/open-database.ts';
import { waitForDatabase } from '../../src/run/wait-for-database.ts';
import { bareConfig } from '../support/bare-config.ts';
import { useDatabase } from '../support/database.ts';

const failing = (code: string) =>
  new StartError('cannot be opened', { cause: Object.assign(new Error('x'), { code }) });

/** Runs `look` until it fails, or for ten minutes of a clock that is wound. */
async function wait(look: () => Promise<unknown>, seconds: number) {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'setInterval', 'clearInterval', 'clearTimeout'] });
  const warn = vi.fn();
  const waiting = waitForDatabase(look, { until: Date.now() + seconds * 1_000, log: { warn } });
  const outcome = waiting.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(600_000);
  return { outcome: await outcome, warn };
}

afterEach(() => void vi.useRealTimers());

describe('a start', () => {
  test.each(['57P03', 'ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', '25006', '53300'])(
    'waits for a database that answers %s, with a line every five seconds, and then refuses',
    async (code) => {
      const fault = failing(code);
      const look = vi.fn(() => Promise.reject(fault));
      const { outcome, warn } = await wait(look, 60);
      expect(outcome).toBe(fault);
      expect(warn.mock.calls.length).toBeGreaterThanOrEqual(12);
      expect(warn.mock.calls.length).toBeLessThanOrEqual(13);
      const first = { reason: 'cannot be opened', seconds: 60 };
      expect(warn.mock.calls[0]).toEqual([first, 'waiting for the database']);
      expect(look.mock.calls.length).toBeGreaterThan(60);
    },
  );

  test('waits for a standby that is promoted', async () => {
    let looks = 0;
    const look = async () => {
      looks += 1;
      if (looks < 5) throw new DatabaseReadOnly('DATABASE_URL');
      return 'primary';
    };
    expect((await wait(look, 60)).outcome).toBe('primary');
  });

  test.each([
    ['a wrong password', failing('28P01'), 60],
    ['a missing database', failing('3D000'), 60],
    ['another database', new StartError('must open the same database'), 60],
    ['a database that is away, without a time to wait', failing('ECONNREFUSED'), 0],
  ])('refuses %s at once', async (_, fault, seconds) => {
    const look = vi.fn(() => Promise.reject(fault));
    const { outcome, warn } = await wait(look, seconds);
    expect([outcome, look.mock.calls.length, warn.mock.calls.length]).toEqual([fault, 1, 0]);
  });
});

describe('openDatabase()', () => {
  const database = useDatabase();
  const opened: (Server | Socket)[] = [];
  afterEach(() => {
    for (const each of opened.splice(0)) 'destroy' in each ? each.destroy() : each.close();
  });

  /** A server in front of the database; `undefined` hands a connection on. */
  async function listen(port: number, refusal: () => Buffer | undefined): Promise<number> {
    const target = new URL(database.url);
    const server = createServer((client) => {
      opened.push(client);
      client.on('error', () => undefined);
      const answer = refusal();
      if (answer) return void client.once('data', () => client.end(answer));
      const upstream = connect(Number(target.port || 5432), target.hostname);
      opened.push(upstream);
      upstream.on('error', () => client.destroy());
      client.pipe(upstream).pipe(client);
    }).listen(port, '127.0.0.1');
    opened.push(server);
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  /** Source: PostgreSQL manual, "Message Formats", ErrorResponse. */
  function startingUp(): Buffer {
    const fields = Buffer.from('SFATAL\0C57P03\0Mthe database system is starting up\0\0');
    const head = Buffer.from('E\0\0\0\0');
    head.writeInt32BE(fields.length + 4, 1);
    return Buffer.concat([head, fields]);
  }

  function config(port: number) {
    const url = new URL(database.url);
    url.host = `127.0.0.1:${port}`;
    url.search = '';
    return { ...bareConfig(url.href), databaseWaitSeconds: 60 };
  }

  test('is given up when the process ends', async () => {
    const port = await listen(0, () => startingUp());
    const ending = new AbortController();
    const warn = () => ending.abort();
    await expect(openDatabase(config(port), { warn }, ending.signal)).rejects.toThrow('starting up');
  });

  test('waits while the database starts up', async () => {
    let isReady = false;
    const port = await listen(0, () => (isReady ? undefined : startingUp()));
    const warn = vi.fn(() => {
      isReady = true;
    });
    await closePools(await openDatabase(config(port), { warn }));
    expect(warn).toHaveBeenCalledWith(
      expect.objectContaining({ reason: expect.stringContaining('the database system is starting up') }),
      'waiting for the database',
    );
  });

  test('waits while nothing listens', async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port } = probe.address() as AddressInfo;
    probe.close();
    await once(probe, 'close');
    const warn = vi.fn(() => void listen(port, () => undefined));
    await closePools(await openDatabase(config(port), { warn }));
    expect(warn).toHaveBeenCalledWith(
      expect.objectContaining({ reason: expect.stringContaining('ECONNREFUSED') }),
      'waiting for the database',
    );
  });
});
