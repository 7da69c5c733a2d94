/** Statements, billing details, the time zone, grants, payments, receipts, and the erasure of people. */
import { grantCredit, voidGrant } from '../../../src/money/grants/grant-credit.ts';
import { type Month, startOf } from '../../../src/money/month.ts';
import { monthsAgo, moveInTime } from '../../../test/support/months.ts';
import { OPERATOR } from '../../../test/support/tenants.ts';
import type { Json } from '../driver.ts';
import { type At, type House, type Step, waitFor } from '../step.ts';

const RECORD = { role: 'host', tier: 'hd', seconds: 60, egress_bytes: 50_000_000, ingress_bytes: 1_000_000 };

/** A tenant whose usage was charged. */
async function withUsage(at: At): Promise<House> {
  const house = await at.house();
  const relay = await at.client({ api_key: house.relayKey });
  const records = ['r1', 'r2'].map((id) => ({ ...RECORD, id, room: 'lobby', participant: 'ann' }));
  const { error } = await relay.call('usage.report', { records });
  if (error !== undefined) throw new Error(`the report failed: ${JSON.stringify(error)}`);
  return house;
}

/** As if the gift and the usage were of this month. */
async function withStatement(at: At, month: Month): Promise<House> {
  const house = await withUsage(at);
  const start = startOf(month).getTime();
  const times = [0, 1].map((minute) => new Date(start + minute * 60_000).toISOString());
  await moveInTime(at.world.db, house.tenant, times);
  return house;
}

/** A tenant that has paid. */
async function withPayment(at: At): Promise<House> {
  const house = await at.house({ with: { status: 'pending', credit: false } });
  await at.world.pay(house);
  return house;
}

export const ACCOUNTS: readonly Step[] = [
  {
    name: 'billing.statements',
    run: async (at) => {
      const month = monthsAgo(2);
      const { client } = await withStatement(at, month);
      const { ok, error } = await client.call('billing.statements');
      return { ok, error, isThatMonth: ok?.[0]?.month === month };
    },
    expect: {
      ok: [{ opening: { display: '$0.000000' }, closing: { display: /^\$19\.\d{6}$/ } }],
      isThatMonth: true,
    },
  },
  {
    name: 'billing.statement',
    run: async (at) => {
      const month = monthsAgo(2);
      const { client } = await withStatement(at, month);
      const statementOf = (of: string) => client.call('billing.statement', { month: of });
      return {
        past: await statementOf(month),
        now: await statementOf(monthsAgo(0)),
        soFar: await client.call('billing.statement', { month: monthsAgo(0), so_far: true }),
        before: await statementOf('2019-12'),
        wrong: await statementOf('a/b'),
      };
    },
    expect: {
      past: {
        ok: {
          statement: {
            version: 1,
            iss: /./,
            tenant: { id: '<id>', name: 'Ada Video' },
            month: /^\d{4}-\d\d$/,
            from: '<from>',
            to: '<to>',
            currency: 'usd',
            payments: { entries: undefined, sum: { display: '$0.000000' } },
            reversals: { others: undefined },
            adjustments: {
              entries: [{ kind: 'adjustment', amount: { micros: 20_000_000 }, detail: 'a gift', at: '<at>' }],
              sum: { micros: 20_000_000 },
            },
            usage: {
              rooms: [{ room: 'lobby', records: 2, seconds: 120, egress_bytes: 100_000_000 }],
              sum: { records: 2, total: { display: /^\$0\.\d{6}$/ }, unbilled: { display: '$0.000000' } },
            },
            closing: { display: /^\$19\.\d{6}$/ },
          },
          jws: '<jws>',
        },
      },
      now: { error: { kind: 'Precondition', code: 409 } },
      soFar: {
        ok: { statement: { so_far: true, opening: { display: /^\$19\./ }, usage: {} }, jws: undefined },
      },
      before: { error: { kind: 'NotFound', code: 404 } },
      wrong: { error: { kind: 'Invalid', code: 400, fields: ['month'] } },
    },
  },
  {
    name: 'billing.details',
    run: async (at) => {
      const { client } = await at.house();
      const details = { name: 'Ada Video GmbH', address: ['Am Kai 1', 'Hamburg'], tax_id: 'DE1' };
      const none = await client.call('billing.details');
      await client.call('billing.set_details', details);
      const { ok } = await client.call('billing.statement', { month: monthsAgo(0), so_far: true });
      return { none, some: await client.call('billing.details'), shown: ok?.statement.tenant.details };
    },
    expect: {
      none: undefined,
      some: { ok: { name: 'Ada Video GmbH', address: ['Am Kai 1', 'Hamburg'], tax_id: 'DE1' } },
      shown: { name: 'Ada Video GmbH', address: ['Am Kai 1', 'Hamburg'], tax_id: 'DE1' },
    },
  },
  {
    name: 'billing.set_details',
    run: async (at) => {
      const { client } = await at.house();
      return {
        set: await client.call('billing.set_details', { name: 'Ada', tax_id: 'DE1' }),
        without: await client.call('billing.set_details', { address: ['Am Kai 1'] }),
        wrong: await client.call('billing.set_details', { address: ['Am Kai 1', ' '] }),
        removed: await client.call('billing.set_details', {}),
      };
    },
    expect: {
      set: { ok: { name: 'Ada', address: undefined, tax_id: 'DE1' } },
      without: { ok: { name: undefined, address: ['Am Kai 1'], tax_id: undefined } },
      wrong: { error: { kind: 'Invalid', code: 400, fields: ['address/1'] } },
      removed: undefined,
    },
  },
  {
    name: 'billing.time_zone',
    run: async (at) => {
      const { client } = await withUsage(at);
      const first = await client.call('billing.time_zone');
      await client.call('billing.set_time_zone', { time_zone: 'Asia/Kathmandu' });
      const { ok } = await client.call('billing.time_zone');
      return { first, later: [ok?.time_zone, ok?.next_time_zone, typeof ok?.next_from] };
    },
    expect: {
      first: { ok: { time_zone: 'UTC', next_time_zone: undefined, next_from: undefined } },
      later: ['UTC', 'Asia/Kathmandu', 'string'],
    },
  },
  {
    name: 'billing.set_time_zone',
    run: async (at) => {
      const { client } = await withUsage(at);
      const { ok } = await client.call('billing.set_time_zone', { time_zone: 'Europe/Berlin' });
      return {
        next: ok?.next_time_zone,
        back: await client.call('billing.set_time_zone', { time_zone: 'UTC' }),
        wrong: await client.call('billing.set_time_zone', { time_zone: 'Europe/Nowhere' }),
      };
    },
    expect: {
      next: 'Europe/Berlin',
      back: { ok: { time_zone: 'UTC', next_time_zone: undefined, next_from: undefined } },
      wrong: { error: { kind: 'Invalid', code: 400, fields: ['time_zone'] } },
    },
  },
  {
    name: 'billing.grants',
    run: async (at) => {
      const { client, tenant } = await at.house();
      const { db } = at.world;
      const expiresAt = new Date('2100-01-01');
      for (const [amount, reason] of [
        [7n, 'voided'],
        [5n, 'a gift'],
      ] as const) {
        const given = { amount, reason, expiresAt: amount === 5n ? expiresAt : undefined, key: undefined };
        const { grant } = await grantCredit(db, OPERATOR, tenant, given);
        if (reason === 'voided') await voidGrant(db, OPERATOR, tenant, { id: grant.id, reason });
      }
      const { ok: entries } = await client.list('billing.ledger');
      return {
        grants: await client.list('billing.grants'),
        ledger: { ok: entries?.map(({ reference: _id, ...entry }: Json) => entry) },
      };
    },
    expect: {
      grants: {
        ok: [
          {
            id: '<id>',
            state: 'active',
            reason: 'a gift',
            amount: { micros: 5 },
            left: { micros: 5 },
            spent: { display: '$0.000000' },
            forfeited: { display: '$0.000000' },
            granted_at: '<granted_at>',
            expires_at: '<expires_at>',
          },
          {
            state: 'voided',
            left: { display: '$0.000000' },
            forfeited: { display: '$0.000007' },
            expires_at: undefined,
          },
        ],
      },
      ledger: {
        ok: [
          { kind: 'grant', amount: { micros: 5 }, detail: 'a gift' },
          { kind: 'grant_voided', amount: { micros: -7 } },
          { kind: 'grant', amount: { micros: 7 } },
          { kind: 'adjustment' },
        ],
      },
    },
  },
  {
    name: 'billing.payments',
    run: async (at) => {
      const { client } = await withPayment(at);
      return {
        all: await client.list('billing.payments'),
        within: await client.list('billing.payments', {
          from: '2020-01-01T00:00:00Z',
          to: '2999-01-01T00:00:00Z',
          page_size: 5,
        }),
      };
    },
    expect: {
      all: {
        ok: [
          {
            id: '<id>',
            kind: 'top_up',
            amount: { micros: 20_000_000 },
            reversed: { display: '$0.000000' },
            at: '<at>',
          },
        ],
      },
      within: { ok: [{ id: '<id>', kind: 'top_up' }] },
    },
  },
  {
    name: 'billing.receipt',
    run: async (at) => {
      const { client } = await withPayment(at);
      const [payment] = (await client.list('billing.payments')).ok ?? [];
      return {
        receipt: await client.call('billing.receipt', { id: payment?.id }),
        absent: await client.call('billing.receipt', { id: 'pi_of_nobody' }),
      };
    },
    expect: {
      receipt: { ok: { url: '<url>' } },
      absent: { error: { kind: 'NotFound', code: 404 } },
    },
  },
  {
    name: 'participants.erase',
    run: async (at) => {
      const { client, direct } = await withUsage(at);
      const first = await client.call('participants.erase', { participant: 'ann' });
      const { id } = first.ok ?? {};
      await waitFor(
        () => direct.participants.erasure(id),
        ({ state }) => state === 'done',
      );
      return {
        id: first.ok?.id,
        created_at: first.ok?.created_at,
        error: first.error,
        records: await client.list('usage.records', { participant: 'ann' }),
        nobody: await client.call('participants.erase', { participant: '' }),
      };
    },
    expect: {
      id: '<id>',
      created_at: '<created_at>',
      error: undefined,
      records: undefined,
      nobody: { error: { kind: 'Invalid', code: 400 } },
    },
  },
  {
    name: 'participants.erasure',
    run: async (at) => {
      const { client, direct } = await withUsage(at);
      const { id } = await direct.participants.erase('ann');
      await waitFor(
        () => direct.participants.erasure(id),
        ({ state }) => state === 'done',
      );
      return {
        erasure: await client.call('participants.erasure', { id }),
        absent: await client.call('participants.erasure', { id: 'er_of_nobody' }),
      };
    },
    expect: {
      erasure: {
        ok: {
          id: '<id>',
          state: 'done',
          records: 2,
          created_at: '<created_at>',
          finished_at: '<finished_at>',
        },
      },
      absent: { error: { kind: 'NotFound', code: 404 } },
    },
  },
];
