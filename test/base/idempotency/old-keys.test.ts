import { RoomService } from '@boxoffice/contract/room_service';
import { describe, expect, test } from 'vitest';
import type { Pipeline } from '../../../src/base/db/pipeline.ts';
import type { Pool, Tx } from '../../../src/base/db/pool.ts';
import { once } from '../../../src/base/idempotency/once.ts';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { sweep } from '../../../src/run/sweep.ts';
import { failureOf, useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';

const app = useService();
const controlOf = useControl(app);
const { createRoom } = RoomService.method;

test('a key is deleted after 24 hours, and not before', async () => {
  const tenant = await app.signUp();
  const of = controlOf(tenant);
  const { db } = app.service.deps;
  const requests = ['old', 'young'].map((room) => ({ room, idempotencyKey: room }));
  for (const request of requests) await of.call(createRoom, request);
  await db.query(
    `update idempotency_keys set created_at = now() - case when key = 'old' then interval '24 hours 1 second'
                                                                else interval '23 hours 59 minutes' end`,
  );
  // More than one batch.
  await db.query(
    `insert into idempotency_keys (tenant_id, key, request_hash, answer, created_at)
     select $1, 'other-' || n, sha256('x'), '', now() - interval '2 days' from generate_series(1, 6000) n`,
    [parseTenantId(tenant.id)],
  );
  await sweep(app.service.deps);
  // The service's own sweep may hold some.
  await expect
    .poll(async () => (await db.query('select key from idempotency_keys')).rows)
    .toStrictEqual([{ key: 'young' }]);
  expect((await of.call(createRoom, requests[1]!)).room!.name).toBe('young');
  expect(await failureOf(of.call(createRoom, requests[0]!))).toMatchObject({ code: 'ALREADY_EXISTS' });
});

describe('a key that is deleted while a call uses it', () => {
  test.each([
    ['before each statement: the work is done once more', 'before', 'second', 'second'],
    ['after each statement: the call still gets the answer', 'after', 'first', 'third'],
  ] as const)('%s', async (_, when, second, third) => {
    const { deps } = app.service;
    const tenant = parseTenantId((await app.signUp()).id)!;
    const mutation = { tenant, key: 'k', method: 'a method', rights: '', request: Buffer.from('the same') };
    const call = async (of: Pick<typeof deps, 'db'>, answer: string) => {
      const work = async (tx: Tx) => {
        await tx.query({ name: 'nothing', text: 'select' });
        return Buffer.from(answer);
      };
      return Buffer.from(await once({ ...deps, ...of }, mutation, work)).toString();
    };

    expect(await call(deps, 'first')).toBe('first');
    const sweep = () => deps.db.query('delete from idempotency_keys where tenant_id = $1', [tenant]);
    expect(await call({ db: sweeping(deps.db, when, sweep) }, 'second')).toBe(second);
    expect(await call(deps, 'third')).toBe(third);
  });
});

/** The same database. Sweeps between the round trips of a transaction. */
function sweeping(db: Pool, when: 'before' | 'after', sweep: () => Promise<unknown>): Pool {
  const connect = async () => {
    const connection = await db.connect();
    const query = async (statement: string | Pipeline) => {
      if (when === 'before') await sweep();
      else if (typeof statement !== 'string') {
        const { callback } = statement;
        statement.callback = (...given) => void sweep().then(() => callback(...given));
      }
      return connection.query(statement as string);
    };
    return { query, release: (error?: Error) => connection.release(error) };
  };
  return { connect } as unknown as Pool;
}
