import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { deleteOldKeys } from '../../../src/base/idempotency/idempotency-keys.sql.ts';
import type { Mutation } from '../../../src/base/idempotency/once.ts';
import { type Outcome, onceOutside } from '../../../src/base/idempotency/once-outside.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService();

class Answered extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super(outcome);
    this.outcome = outcome;
  }
}

/** The other side, which does the work of each id once. Its ids are `<n>`, in the order in which work begins. */
async function outside() {
  const tenant = idOf(await app.signUp());
  const asked: string[] = [];
  const done = new Set<string>();
  const next: (Outcome | undefined)[] = [];
  let admitted = 0;
  let begun = 0;
  const work = {
    admit: async () => {
      admitted += 1;
    },
    begin: async () => {
      begun += 1;
      return `${begun}`;
    },
    ask: async (id: string) => {
      asked.push(id);
      const outcome = next.shift();
      if (outcome !== 'refused') done.add(id);
      if (outcome) throw new Answered(outcome);
      return `page ${id}`;
    },
    outcomeOf: (error: unknown) => (error as Answered).outcome,
  };
  const mutation = (of: Partial<Mutation> = {}): Mutation => ({
    rights: '',
    tenant,
    key: 'k',
    method: 'a method',
    request: Buffer.from('the same'),
    ...of,
  });
  const call = (of: Partial<Mutation> = {}) => onceOutside(app.service.deps, mutation(of), work);
  return { tenant, asked, done, next, call, admitted: () => admitted };
}

const forget = (tenant: TenantId) =>
  app.service.deps.db
    .query(`update idempotency_keys set created_at = now() - interval '25 hours' where tenant_id = $1`, [
      tenant,
    ])
    .then(() => deleteOldKeys(app.service.deps.db, { hours: 24, limit: 10 }));

describe('a key', () => {
  test('that has an answer asks nobody, and is not admitted again', async () => {
    const { call, asked, admitted } = await outside();
    expect([await call(), await call()]).toEqual(['page 1', 'page 1']);
    expect([asked, admitted()]).toEqual([['1'], 1]);
  });

  test('whose answer was lost asks with the same id', async () => {
    const { call, asked, next, admitted } = await outside();
    next.push('unknown', 'unknown');
    await expect(call()).rejects.toThrow('unknown');
    await expect(call()).rejects.toThrow('unknown');
    expect([await call(), await call()]).toEqual(['page 1', 'page 1']);
    expect([asked, admitted()]).toEqual([['1', '1', '1'], 1]);
  });

  test('that was refused is free, for another request too', async () => {
    const { call, asked, next, done } = await outside();
    next.push('refused');
    await expect(call()).rejects.toThrow('refused');
    expect(await call({ request: Buffer.from('another') })).toBe('page 2');
    expect([asked, [...done]]).toEqual([['1', '2'], ['2']]);
  });

  test('of work that is under way waits for it', async () => {
    const { call, asked, next } = await outside();
    next.push('unknown', 'busy', 'busy');
    await expect(call()).rejects.toThrow('unknown');
    expect(await call()).toBe('page 1');
    expect(asked).toEqual(['1', '1', '1', '1']);
  });

  test.each(['method', 'request'] as const)(
    'with another %s is refused, also before there is an answer',
    async (name) => {
      const { call, asked, next } = await outside();
      const other = name === 'method' ? { method: 'another' } : { request: Buffer.from('another') };
      next.push('unknown');
      await expect(call()).rejects.toThrow('unknown');
      for (const _ of [1, 2]) {
        await expect(call(other)).rejects.toMatchObject({ kind: 'idempotency_key_reused' });
        expect(await call()).toBe('page 1');
      }
      expect(asked).toEqual(['1', '1']);
    },
  );

  test('that was forgotten meanwhile does the work anew', async () => {
    const { call, next, tenant, done } = await outside();
    next.push('unknown');
    await expect(call()).rejects.toThrow('unknown');
    await forget(tenant);
    expect(await call()).toBe('page 2');
    expect([...done]).toEqual(['1', '2']);
  });
});

test('a call does not change the key of another one, which took it over meanwhile', async () => {
  const { call, tenant } = await outside();
  const { deps } = app.service;
  const [begun, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = (error?: Error) =>
    onceOutside(
      deps,
      { tenant, key: 'k', method: 'a method', rights: '', request: Buffer.from('the same') },
      {
        begin: async () => 'slow',
        ask: async () => {
          begun.resolve();
          await mayEnd.promise;
          if (error) throw error;
          return 'page slow';
        },
        outcomeOf: () => 'refused',
      },
    );
  const late = slow(new Failure('provider_error'));
  await begun.promise;
  await forget(tenant);
  expect(await call()).toBe('page 1');
  mayEnd.resolve();
  await expect(late).rejects.toThrow('payment provider error');
  expect(await slow()).toBe('page 1');
});

test('without a key, each call does the work', async () => {
  const { call, asked, admitted } = await outside();
  expect([await call({ key: undefined }), await call({ key: undefined })]).toEqual(['page 1', 'page 2']);
  expect([asked, admitted()]).toEqual([['1', '2'], 2]);
});
