import { expect, it, vi } from 'vitest';
import { directConfig } from '../../src/base/db/pool.ts';
import { listen } from '../../src/events/listen.ts';
import { useDatabase } from '../support/database.ts';

const database = useDatabase();

it('tells of a lost connection, listens again, and ends without a word', async () => {
  const handlers = { ready: vi.fn(), message: vi.fn(), failed: vi.fn() };
  const config = { ...directConfig(database.pool), application_name: 'a listener' };
  const listening = listen(config, 'a_channel', handlers);
  await expect.poll(() => handlers.ready.mock.calls).toHaveLength(1);
  await database.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'a listener'",
  );
  await expect.poll(() => handlers.failed.mock.calls).toEqual([[expect.objectContaining({ code: '57P01' })]]);
  await expect.poll(() => handlers.ready.mock.calls).toHaveLength(2);
  await database.pool.query("select pg_notify('a_channel', 'hello')");
  await expect.poll(() => handlers.message.mock.calls).toEqual([['hello']]);
  await listening.close();
  expect(handlers.failed).toHaveBeenCalledOnce();
});

it('tells of a server that does not answer', async () => {
  const failed = vi.fn();
  const listening = listen({ host: '127.0.0.1', port: 1 }, 'a_channel', { ready() {}, message() {}, failed });
  await expect.poll(() => failed.mock.calls[0]?.[0]).toMatchObject({ code: 'ECONNREFUSED' });
  await listening.close();
});
