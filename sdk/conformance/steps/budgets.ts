/** Budgets, and tokens that do not fit into them. */
import type { Step } from '../step.ts';
import { thumbprintOf } from './devices.ts';

const BUDGET = { id: 'acme', customer: 'acme', period: 'month', limit_micros: 5_000_000, hard: true };
const NOT_FOUND = { error: { kind: 'NotFound', code: 404 } };

export const BUDGETS: readonly Step[] = [
  {
    name: 'budgets.set',
    run: async (at) => {
      const { client } = await at.house();
      const set = (changes: object) => client.call('budgets.set', { ...BUDGET, ...changes });
      return {
        made: await set({ alert_percents: [100, 50] }),
        changed: await set({ limit_micros: 0 }),
        other: await set({ period: 'day' }),
        negative: await set({ limit_micros: -1 }),
      };
    },
    expect: {
      made: {
        ok: {
          id: 'acme',
          customer: 'acme',
          key: undefined,
          room: undefined,
          period: 'month',
          limit: { micros: 5_000_000 },
          hard: true,
          alert_percents: [50, 100],
        },
      },
      changed: { ok: { limit: { display: '$0.000000' } } },
      other: { error: { kind: 'Invalid', code: 400 } },
      negative: { error: { kind: 'Invalid', code: 400, fields: ['limit_micros'] } },
    },
  },
  {
    name: 'budgets.get',
    run: async (at) => {
      const { client } = await at.house();
      await client.call('budgets.set', BUDGET);
      return {
        there: await client.call('budgets.get', { id: 'acme' }),
        missing: await client.call('budgets.get', { id: 'none' }),
      };
    },
    expect: { there: { ok: { id: 'acme', free: { micros: 5_000_000 } } }, missing: NOT_FOUND },
  },
  {
    name: 'budgets.list',
    run: async (at) => {
      const { client } = await at.house();
      const none = await client.call('budgets.list');
      for (const id of ['b', 'a']) await client.call('budgets.set', { ...BUDGET, id });
      return { none, two: await client.call('budgets.list') };
    },
    expect: { none: undefined, two: { ok: [{ id: 'a' }, { id: 'b' }] } },
  },
  {
    name: 'budgets.delete',
    run: async (at) => {
      const { client } = await at.house();
      await client.call('budgets.set', BUDGET);
      return {
        deleted: await client.call('budgets.delete', { id: 'acme' }),
        again: await client.call('budgets.delete', { id: 'acme' }),
      };
    },
    expect: { deleted: undefined, again: NOT_FOUND },
  },
  {
    name: 'a token that does not fit into a hard budget is refused',
    run: async (at) => {
      const { client } = await at.house();
      await client.call('budgets.set', { ...BUDGET, limit_micros: 0 });
      await client.call('rooms.create', { room: 'lobby' });
      const token = { room: 'lobby', username: 'newcomer', device_thumbprint: thumbprintOf('newcomer') };
      return {
        covered: await client.call('tokens.mint', { ...token, customer: 'acme' }),
        other: await client.call('tokens.mint', { ...token, customer: 'zeta' }),
      };
    },
    expect: {
      covered: {
        error: {
          kind: 'Precondition',
          code: 'FAILED_PRECONDITION',
          reason: 'BUDGET_REACHED',
          metadata: { budget: 'acme', free_micros: '0' },
        },
      },
      other: { ok: { username: 'newcomer' } },
    },
  },
];
