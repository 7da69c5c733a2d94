/** The methods that list, sum up, explain and simulate charges, with every filter. */
import type { Client } from '../client.ts';
import { type At, type House, type Step, waitFor } from '../step.ts';
import { thumbprintOf } from './devices.ts';

const RECORD = { role: 'host', tier: 'hd', seconds: 60, egress_bytes: 50_000_000, ingress_bytes: 1_000_000 };
const RECORDS = [
  { ...RECORD, id: 'r1', room: 'lobby', participant: 'ann' },
  { ...RECORD, id: 'r2', room: 'lobby', participant: 'bob', role: 'audience', tier: '2k_plus' },
  { ...RECORD, id: 'r3' },
];
/** Before and after everything that a step does. */
const EVER = { from: '2020-01-02T03:04:05.678Z', to: '2999-01-01T00:00:00Z' };
/** A path may hold none of these characters, and a character may take two UTF-16 units. */
const LONG_ID = `a/b?c#d%e+f g..é"\\${'🎟'.repeat(182)}`;

/** More than 64 bits hold, added up. */
const MANY = 1_025;

/** A tenant with a client for its relay. */
async function withRelay(
  at: At,
  options: Parameters<At['house']>[0] = {},
): Promise<House & { readonly relay: Client }> {
  const house = await at.house(options);
  return { ...house, relay: await at.client({ api_key: house.relayKey }) };
}

/** One whose usage was charged. */
async function withCharges(at: At, records: readonly object[] = RECORDS) {
  const house = await withRelay(at);
  const { error } = await house.relay.call('usage.report', { records });
  if (error !== undefined) throw new Error(`the report failed: ${JSON.stringify(error)}`);
  return house;
}

/** One whose usage has a session. */
async function withSession(at: At) {
  const { client, relay, direct } = await withRelay(at, { rooms: ['lobby'] });
  const device = { room: 'lobby', username: 'ann', deviceThumbprint: thumbprintOf('ann') };
  await direct.tokens.mint(device);
  await relay.call('usage.report', { records: RECORDS });
  // Usage is assigned a moment after the charge.
  const { ok } = await waitFor(
    () => client.list('usage.sessions', { participant: 'ann' }),
    (listed) => listed.ok?.[0]?.records === 1,
  );
  return { client, session: ok![0] };
}

const ANN = {
  id: 'r1',
  room: 'lobby',
  participant: 'ann',
  role: 'host',
  tier: 'hd',
  seconds: 60,
  egress_bytes: 50_000_000,
  ingress_bytes: 1_000_000,
};

const SESSION = {
  id: '<id>',
  room: 'lobby',
  participant: 'ann',
  entered_at: '<entered_at>',
  left_at: undefined,
  leave_reason: undefined,
  records: 1,
  seconds: 60,
  seconds_by_tier: { audio: undefined, hd: 60 },
  total: { display: /^\$0\./ },
};

export const CHARGES: readonly Step[] = [
  {
    name: 'billing.ledger',
    run: async (at) => {
      const { client } = await withCharges(at);
      const list = (request: object) => client.list('billing.ledger', request);
      const pages = client.pages('billing.ledger', { page_size: 3 });
      const first = (await pages.next()).page?.length;
      const second = (await pages.next()).page?.length;
      return {
        sizes: [first, second, (await pages.next()).page],
        all: await list({}),
        ofRoom: await list({ room: 'lobby', participant: 'ann', ...EVER }),
        ofNoRoom: await list({ room: '' }),
        ofKinds: await list({ kinds: ['adjustment', 'top_up'] }),
        before: await list({ to: EVER.from }),
      };
    },
    expect: {
      sizes: [3, 1, undefined],
      all: {
        ok: [
          {},
          {},
          {},
          {
            kind: 'adjustment',
            amount: { micros: 20_000_000 },
            id: undefined,
            payment: undefined,
            posting_seq: 1,
            balance_after: { micros: 20_000_000 },
          },
        ],
      },
      ofRoom: {
        ok: [
          {
            kind: 'usage',
            amount: { display: /^-\$0\./ },
            reference: 'lobby',
            detail: 'ann',
            at: '<at>',
            id: 'r1',
            balance_after: { display: /^\$19\.\d{6}$/ },
          },
        ],
      },
      ofNoRoom: { ok: [{ kind: 'usage', reference: undefined, detail: undefined, id: 'r3' }] },
      ofKinds: { ok: [{ kind: 'adjustment' }] },
      before: undefined,
    },
  },
  {
    name: 'usage.records',
    run: async (at) => {
      const { client } = await withCharges(at);
      const list = async (request: object) => await client.list('usage.records', request);
      return {
        all: await list({ page_size: 2, ...EVER }),
        byRole: await list({ room: 'lobby', participant: 'bob', role: 'audience', tier: '2k_plus' }),
        ofNoRoom: await list({ room: '' }),
        before: await list({ to: EVER.from }),
      };
    },
    expect: {
      all: { ok: [{ id: 'r3' }, { id: 'r2' }, { ...ANN, total: { display: /^\$0\./ }, at: '<at>' }] },
      byRole: {
        ok: [{ id: 'r2', role: 'audience', tier: '2k_plus', capped: undefined, unbilled: undefined }],
      },
      ofNoRoom: { ok: [{ id: 'r3', room: undefined, participant: undefined }] },
      before: undefined,
    },
  },
  {
    name: 'usage.sessions',
    run: async (at) => {
      const { client, session } = await withSession(at);
      const list = async (request: object) => await client.list('usage.sessions', request);
      return {
        all: await list({ page_size: 2, ...EVER }),
        found: (await list({ room: 'lobby', participant: 'ann', key: session.key_id, page_size: 1 })).ok
          ?.length,
        others: await list({ room: 'attic' }),
        ofCustomer: await list({ customer: 'acme' }),
        ofNoKey: await list({ key: 'xyz' }),
        before: await list({ to: EVER.from }),
      };
    },
    expect: {
      all: { ok: [SESSION] },
      found: 1,
      others: undefined,
      ofCustomer: undefined,
      ofNoKey: { error: { kind: 'Invalid', code: 400, fields: ['key'] } },
      before: undefined,
    },
  },
  {
    name: 'usage.session',
    run: async (at) => {
      const { client, session } = await withSession(at);
      return {
        one: await client.call('usage.session', { id: session.id }),
        none: await client.call('usage.session', { id: 'se_0' }),
      };
    },
    expect: {
      one: { ok: { session: SESSION, records: [{ id: 'r1' }], assigned_until: '<assigned_until>' } },
      none: { error: { kind: 'NotFound', code: 404 } },
    },
  },
  {
    name: 'usage.room_cost',
    run: async (at) => {
      const { client, session } = await withSession(at);
      return {
        cost: await client.call('usage.room_cost', { uid: session.room_uid }),
        noRoom: await client.call('usage.room_cost', { uid: 'rm_0' }),
      };
    },
    expect: {
      cost: {
        ok: {
          room: 'lobby',
          sessions: 1,
          assigned: { records: 1, seconds_by_tier: { hd: 60, full_hd: undefined } },
          unassigned: { records: 1, seconds_by_tier: { '2k_plus': 60 } },
        },
      },
      noRoom: { error: { kind: 'NotFound', code: 404 } },
    },
  },
  {
    name: 'usage.conflicts',
    run: async (at) => {
      const { client, relay } = await withCharges(at);
      const none = await client.list('usage.conflicts');
      const other = { ...RECORDS[0], seconds: 61, room: 'attic' };
      await relay.call('usage.report', { records: [other, { ...RECORDS[1], ingress_bytes: 0 }] });
      return [none, await client.list('usage.conflicts', { page_size: 1 })];
    },
    expect: [
      {},
      {
        ok: [
          { id: 'r2', reported: { ingress_bytes: undefined } },
          {
            id: 'r1',
            times: 1,
            first_at: '<first_at>',
            last_at: '<last_at>',
            charged: { room: 'lobby', participant: 'ann', seconds: 60, egress_bytes: 50_000_000 },
            reported: { room: 'attic', participant: 'ann', seconds: 61, role: 'host', tier: 'hd' },
          },
        ],
      },
    ],
  },
  {
    name: 'usage.summary',
    run: async (at) => {
      const { client } = await withCharges(at);
      const ask = { group_by: ['day', 'room'], limit: 1 };
      const first = await client.call('usage.summary', ask);
      const { from, to, next_cursor: cursor } = first.ok ?? {};
      return {
        all: await client.call('usage.summary'),
        byRole: await client.call('usage.summary', { group_by: ['role', 'tier', 'hour'], room: 'lobby' }),
        ofNoRoom: await client.call('usage.summary', { room: '' }),
        first,
        second: await client.call('usage.summary', { ...ask, from, to, cursor }),
        days: (Date.parse(to) - Date.parse(from)) / 86_400_000,
        before: await client.call('usage.summary', {
          from: '2020-01-01T00:00:00Z',
          to: '2020-01-01T02:00:00Z',
        }),
      };
    },
    expect: {
      all: {
        ok: {
          from: '<from>',
          to: '<to>',
          rows: [{ records: 3, seconds: 180, egress_bytes: 150_000_000, ingress_bytes: 3_000_000 }],
          sum: { records: 3, total: { display: /^\$0\./ }, unbilled: { display: '$0.000000' } },
          next_cursor: undefined,
        },
      },
      byRole: {
        ok: {
          rows: [
            {
              hour: '<hour>',
              role: 'audience',
              tier: '2k_plus',
              day: undefined,
              room: undefined,
              records: 1,
            },
            { hour: '<hour>', role: 'host', tier: 'hd', records: 1 },
          ],
          sum: { records: 2 },
        },
      },
      ofNoRoom: { ok: { sum: { records: 1 } } },
      first: {
        ok: {
          rows: [{ day: '<day>', room: 'lobby', records: 2 }],
          sum: { records: 3 },
          next_cursor: '<next_cursor>',
        },
      },
      second: {
        ok: { rows: [{ room: undefined, records: 1 }], sum: { records: 3 }, next_cursor: undefined },
      },
      days: 30,
      before: { ok: { rows: undefined, sum: { records: undefined } } },
    },
  },
  {
    name: 'usage.summary of sessions',
    run: async (at) => {
      const { client, session } = await withSession(at);
      const sum = async (group_by: readonly string[]) => await client.call('usage.summary', { group_by });
      return {
        byParticipant: await sum(['participant']),
        byKey: (await sum(['key'])).ok.rows[0].key === session.key_id,
        byCustomer: await sum(['month', 'customer']),
        byMonth: await sum(['month']),
        mixed: await sum(['key', 'room']),
      };
    },
    expect: {
      byParticipant: {
        ok: {
          rows: [{ participant: 'ann', records: 1, key: undefined, customer: undefined, month: undefined }],
          sum: { records: 3 },
          unassigned: { records: 2 },
          assigned_until: '<assigned_until>',
        },
      },
      byKey: true,
      byCustomer: { ok: { rows: [{ month: /^\d{4}-\d\d$/, customer: undefined, records: 1 }] } },
      byMonth: {
        ok: {
          rows: [{ month: /^\d{4}-\d\d$/, records: 3 }],
          sum: { records: 3 },
          unassigned: undefined,
          assigned_until: undefined,
        },
      },
      mixed: { error: { kind: 'Invalid', code: 400, fields: ['group_by'] } },
    },
  },
  {
    name: 'sums that 64 bits do not hold',
    run: async (at) => {
      const egress_bytes = Number.MAX_SAFE_INTEGER;
      const ids = Array.from({ length: MANY }, (_, index) => `r${index}`);
      const { client } = await withCharges(
        at,
        ids.map((id) => ({ ...RECORD, id, seconds: 1, egress_bytes })),
      );
      const { ok, error } = await client.call('usage.summary');
      return { error, isWhole: ok?.sum.egress_bytes === MANY * egress_bytes };
    },
    expect: { error: undefined, isWhole: true },
  },
  {
    name: 'usage.explain',
    run: async (at) => {
      const { client } = await withCharges(at, [{ ...RECORDS[0], id: LONG_ID }]);
      const explained = await client.call('usage.explain', { id: LONG_ID });
      const { id } = explained.ok?.record ?? {};
      return { explained, isSame: id === LONG_ID, absent: await client.call('usage.explain', { id: 'r' }) };
    },
    expect: {
      explained: {
        ok: {
          record: { room: 'lobby', participant: 'ann', egress_bytes: 50_000_000, at: '<at>' },
          explanation: {
            egress_gib: /^0\.04656/,
            platform_fee_per_gib: { display: /^\$/ },
            fee: /^\d+\.\d{6,}$/,
            minutes: /^1(\.0+)?$/,
            ceiling_per_1000_minutes: { display: /^\$/ },
            ceiling: /^\d+\.\d{6,}$/,
            limited_by: 'fee',
            price: /^\d+\.\d{6,}$/,
            carry_before: '0.500000',
            carry_after: /^0\.\d{6,}$/,
            rounding: 'carry',
            rate_card: 1,
            rule: 1,
          },
          posting: { seq: '<seq>', records: 1, amount: { display: /^-\$0\./ }, at: '<at>' },
        },
      },
      isSame: true,
      absent: { error: { kind: 'NotFound', code: 404 } },
    },
  },
  {
    name: 'usage.look_up',
    run: async (at) => {
      const { client, relay } = await withCharges(at);
      return {
        found: await relay.call('usage.look_up', { ids: ['r2', 'absent', 'r1', 'r2'] }),
        nothing: await relay.call('usage.look_up', { ids: [] }),
        ofTheBackEnd: await client.call('usage.look_up', { ids: ['r1'] }),
      };
    },
    expect: {
      found: {
        ok: [
          { id: 'r2', outcome: 'charged', total: { display: /^\$0\./ }, at: '<at>' },
          { id: 'absent', outcome: 'unknown', total: undefined, at: undefined },
          { id: 'r1', outcome: 'charged' },
          { id: 'r2', outcome: 'charged' },
        ],
      },
      nothing: undefined,
      ofTheBackEnd: { error: { kind: 'Unauthenticated', code: 401 } },
    },
  },
  {
    name: 'rates.simulate',
    run: async (at) => {
      const { client } = await at.house();
      const each = { role: 'host', tier: 'hd', count: 2, seconds: 3600, egress_bytes: 50_000_000 };
      const capped = { ...each, tier: 'audio', count: 1, egress_bytes: 50_000_000_000, interval_seconds: 30 };
      return await client.call('rates.simulate', { participants: [each, capped] });
    },
    expect: {
      ok: {
        rate_version: 1,
        rule_version: 1,
        rounding: 'carry',
        lines: [
          {
            participants: 2,
            records: 2,
            fee: { decimal: /^\d+\.\d{6,}$/, numerator: /^\d+$/, denominator: /^\d+$/ },
            ceiling: { decimal: /^\d+\.\d{6,}$/ },
            capped: undefined,
            price: { decimal: /^\d+\.\d{6,}$/ },
            amount: { display: /^\$\d+\.\d{6}$/ },
          },
          { participants: 1, records: 120, capped: true },
        ],
        participants: 3,
        records: 122,
        price: { decimal: /^\d+\.\d{6,}$/ },
        total: { display: /^\$\d+\.\d{6}$/ },
        carry_before: { decimal: '0.500000' },
        carry_after: { decimal: /^0\.\d{6,}$/ },
        exempt: undefined,
        balance: { micros: 20_000_000 },
        balance_after: { display: /^\$\d+\.\d{6}$/ },
        covered: true,
      },
    },
  },
];
