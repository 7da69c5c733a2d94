/** Thresholds, the runway, mail settings and the audit trail. */
import type { Step } from '../step.ts';

const THRESHOLDS = [
  { kind: 'balance', below_micros: 30_000_000 },
  { kind: 'balance', below_micros: 5_000_000 },
  { kind: 'runway', below_hours: 24 },
];
const BALANCE = { micros: 20_000_000, display: '$20.000000' };
const NOTHING = { display: '$0.000000' };
const DENIED = { error: { kind: 'Denied', code: 403 } };

export const ALERTS: readonly Step[] = [
  {
    name: 'alerts.set',
    run: async (at) => {
      const { client } = await at.house();
      const set = (thresholds: object[]) => client.call('alerts.set', { thresholds });
      return {
        set: await set(THRESHOLDS),
        twice: await set([THRESHOLDS[0]!, THRESHOLDS[0]!]),
        ofNoKind: await set([{ kind: 'smell', below_hours: 1 }]),
        without: await set([{ kind: 'balance' }]),
        kept: await client.call('alerts.get'),
        cleared: await set([]),
      };
    },
    expect: {
      set: {
        ok: [
          { kind: 'balance', below_micros: 30_000_000, below_hours: undefined, raised_at: '<raised_at>' },
          { kind: 'balance', below_micros: 5_000_000, raised_at: undefined },
          { kind: 'runway', below_micros: undefined, below_hours: 24, raised_at: undefined },
        ],
      },
      twice: { error: { kind: 'Invalid', code: 400, fields: ['thresholds/1'] } },
      ofNoKind: { error: { kind: 'Invalid', code: 400, fields: ['thresholds/0/kind'] } },
      without: { error: { kind: 'Invalid', code: 400, fields: ['thresholds/0/below_micros'] } },
      kept: { ok: [{ below_micros: 30_000_000 }, { below_micros: 5_000_000 }, { below_hours: 24 }] },
      cleared: undefined,
    },
  },
  {
    name: 'alerts.get',
    run: async (at) => {
      const { client } = await at.house();
      const none = await client.call('alerts.get');
      await client.call('alerts.set', { thresholds: [{ kind: 'balance', below_micros: 0 }] });
      const suspended = await at.house({ with: { status: 'suspended' } });
      return {
        none,
        ofZero: await client.call('alerts.get'),
        suspended: await suspended.client.call('alerts.get'),
      };
    },
    expect: { none: undefined, ofZero: { ok: [{ kind: 'balance' }] }, suspended: DENIED },
  },
  {
    name: 'billing.runway',
    run: async (at) => {
      const house = await at.house();
      const fresh = await house.client.call('billing.runway');
      const relay = await at.client({ api_key: house.relayKey });
      const record = { role: 'host', tier: 'hd', seconds: 60, egress_bytes: 50_000_000, ingress_bytes: 0 };
      await relay.call('usage.report', { records: [{ ...record, id: 'r1', room: 'lobby' }] });
      return {
        fresh,
        used: await house.client.call('billing.runway', { window: '1h' }),
        wrong: await house.client.call('billing.runway', { window: '2h' }),
      };
    },
    expect: {
      fresh: {
        ok: {
          at: '<at>',
          balance: BALANCE,
          empty: undefined,
          burn: ['1h', '24h', '7d'].map((window) => ({
            window,
            spent: NOTHING,
            per_hour: NOTHING,
            runway_hours: undefined,
            empty_at: undefined,
          })),
          rooms: { window: '24h', from: '<from>', spent: NOTHING, top: undefined },
        },
      },
      used: {
        ok: {
          burn: [
            {
              window: '1h',
              spent: { display: /^\$0\.00/ },
              per_hour: { display: /^\$0\.00/ },
              empty_at: '<empty_at>',
            },
            { window: '24h', empty_at: '<empty_at>' },
            { window: '7d', empty_at: '<empty_at>' },
          ],
          rooms: { window: '1h', top: [{ room: 'lobby', amount: { display: /^\$0\.00/ }, share: 1 }] },
        },
      },
      wrong: { error: { kind: 'Invalid', code: 400, fields: ['window'] } },
    },
  },
  {
    name: 'mail.get',
    run: async (at) => {
      const { client } = await at.house();
      const suspended = await at.house({ with: { status: 'suspended' } });
      return [await client.call('mail.get'), await suspended.client.call('mail.get')];
    },
    expect: [
      {
        ok: {
          signup_address: true,
          email: /@/,
          addresses: undefined,
          alerts: true,
          receipts: true,
          unsubscribed: undefined,
        },
      },
      DENIED,
    ],
  },
  {
    name: 'mail.set',
    run: async (at) => {
      const { client } = await at.house();
      const settings = { addresses: ['ops@example.com', 'Zoe@example.com'], alerts: true, receipts: false };
      return {
        set: await client.call('mail.set', settings),
        without: await client.call('mail.set', { ...settings, addresses: [], signup_address: false }),
        wrong: await client.call('mail.set', { ...settings, addresses: ['nobody'] }),
        kept: await client.call('mail.get'),
      };
    },
    expect: {
      set: {
        ok: {
          signup_address: true,
          email: /@/,
          addresses: ['ops@example.com', 'Zoe@example.com'],
          alerts: true,
          receipts: undefined,
        },
      },
      without: { ok: { signup_address: undefined, addresses: undefined, alerts: true } },
      wrong: { error: { kind: 'Invalid', code: 400, message: /addresses\/0/, fields: ['addresses/0'] } },
      kept: { ok: { signup_address: undefined } },
    },
  },
  {
    name: 'audit.list',
    run: async (at) => {
      const { client } = await at.house();
      const list = (request: object) => client.list('audit.list', request);
      await client.call('alerts.set', { thresholds: THRESHOLDS });
      await client.call('alerts.set', { thresholds: [] });
      const { ok: made } = await client.call('keys.create', { name: 'new' });
      const pages = client.pages('audit.list', { action: 'alerts_changed', page_size: 1 });
      const first = (await pages.next()).page?.length;
      const second = (await pages.next()).page?.length;
      return {
        sizes: [first, second, (await pages.next()).page],
        ofAction: await list({ action: 'alerts_changed' }),
        ofSubject: await list({ subject: made?.key?.id, from: '2020-01-02T03:04:05.678Z' }),
        before: await list({ to: '2020-01-02T03:04:05.678Z' }),
        wrong: await list({ action: 'Key Created' }),
      };
    },
    expect: {
      sizes: [1, 1, undefined],
      ofAction: {
        ok: [
          { action: 'alerts_changed', subject: undefined },
          {
            id: '<id>',
            at: '<at>',
            actor: { kind: 'key', id: '<id>', address: /^[0-9a-f.:]+$/ },
            action: 'alerts_changed',
          },
        ],
      },
      ofSubject: { ok: [{ action: 'key_created', subject: '<subject>', before: undefined, after: {} }] },
      before: undefined,
      wrong: { error: { kind: 'Invalid', code: 400, fields: ['action'] } },
    },
  },
];
