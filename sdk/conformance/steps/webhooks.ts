/** Webhooks: their settings, deliveries and tests, and the events that they get, asked for. */
import { type Receiver, startReceiver } from '../../../test/support/receiver.ts';
import type { Client } from '../client.ts';
import type { At, House, Step } from '../step.ts';

/** Of no tenant. */
const UNKNOWN = `wh_${'0'.repeat(32)}`;
const NOT_FOUND = { error: { kind: 'NotFound', code: 404 } };
const INVALID = { error: { kind: 'Invalid', code: 400 } };
const REUSED = { error: { kind: 'Invalid', code: 422 } };

interface Hooked extends House {
  readonly receiver: Receiver;
  readonly id: string;
  readonly secret: string;
}

/** A tenant with a webhook for what does not happen in a step, so that only what is asked for is sent. */
async function withWebhook(at: At, { rooms = [] as readonly string[], status = 204 } = {}): Promise<Hooked> {
  const house = await at.house({ rooms });
  const receiver = await startReceiver();
  at.onEnd(receiver.close);
  receiver.answer('/', () => status);
  const made = await create(house.client, { url: receiver.url(), types: ['card_expiring'] });
  return { ...house, receiver, id: made.webhook.id, secret: made.secret };
}

async function create(client: Client, request: object) {
  const { ok, error } = await client.call('webhooks.create', request);
  if (error !== undefined) throw new Error(`no webhook was created: ${JSON.stringify(error)}`);
  return ok;
}

const WEBHOOK = {
  id: '<id>',
  url: '<url>',
  types: ['card_expiring'],
  rooms: undefined,
  order: 'tenant',
  max_in_flight: 10,
  max_per_second: undefined,
  format: 'boxoffice',
  max_batch: 1,
  state: 'active',
  paused_by: undefined,
  paused_at: undefined,
  delivered_seq: '<delivered_seq>',
  failures: undefined,
  retry_at: undefined,
  public_keys: ['<public_keys>'],
  created_at: '<created_at>',
};
const DELIVERY = {
  id: '<id>',
  event_id: '<event_id>',
  attempt: 1,
  delivered: true,
  status: 204,
  error: undefined,
  latency_ms: '<latency_ms>',
  at: '<at>',
};

const SETTINGS: readonly Step[] = [
  {
    name: 'webhooks.create',
    run: async (at) => {
      const { client } = await at.house();
      const make = (request: object, key?: string) =>
        client.call('webhooks.create', request, key === undefined ? {} : { idempotency_key: key });
      const full = { url: 'https://x.example/', types: ['card_expiring', 'moderation'], description: 'zoë' };
      const first = await make(full, 'one');
      const again = await make(full, 'one');
      return {
        first,
        isSame: again.ok?.secret === first.ok?.secret && again.ok?.webhook.id === first.ok?.webhook.id,
        ofAll: await make({ url: 'https://x.example/' }),
        reused: await make({ url: 'https://other.example/' }, 'one'),
        noUrl: await make({ url: 'x' }),
        privateUrl: await make({ url: 'https://10.0.0.1/' }),
        badType: await make({ url: 'https://x.example/', types: ['smell'] }),
      };
    },
    expect: {
      first: {
        ok: {
          webhook: { ...WEBHOOK, types: ['card_expiring', 'moderation'], description: 'zoë' },
          secret: '<secret>',
          public_key: '<public_key>',
        },
      },
      isSame: true,
      ofAll: { ok: { webhook: { types: undefined, description: undefined } } },
      reused: REUSED,
      noUrl: { error: { ...INVALID.error, message: /url/ } },
      privateUrl: { error: { ...INVALID.error, message: /public internet/ } },
      badType: { error: { ...INVALID.error, message: /types\/0/ } },
    },
  },
  {
    name: 'webhooks.list',
    run: async (at) => {
      const { client } = await at.house();
      const none = await client.call('webhooks.list');
      await create(client, { url: 'https://x.example/', description: 'first' });
      await create(client, { url: 'https://x.example/', description: 'second' });
      return [none, await client.call('webhooks.list')];
    },
    expect: [
      {},
      {
        ok: [
          { id: '<id>', description: 'first', secret: undefined },
          { description: 'second', public_key: undefined },
        ],
      },
    ],
  },
  {
    name: 'webhooks.get',
    run: async (at) => {
      const { client, id } = await withWebhook(at);
      return {
        found: await client.call('webhooks.get', { id }),
        absent: await client.call('webhooks.get', { id: UNKNOWN }),
      };
    },
    expect: { found: { ok: WEBHOOK }, absent: NOT_FOUND },
  },
  {
    name: 'webhooks.change',
    run: async (at) => {
      const { client, id } = await withWebhook(at);
      const change = (changes: object) => client.call('webhooks.change', { id, ...changes });
      return {
        paused: await change({ paused: true, description: 'busy', types: ['moderation'] }),
        // Empty and false are values.
        resumed: await change({ paused: false, description: '', types: [] }),
        moved: await change({ url: 'https://other.example/hook' }),
        ofRooms: await change({ rooms: ['demo-*', 'lobby'] }),
        withHeaders: await change({
          headers: [{ name: 'X-Key', value: 'open' }],
          basic_auth: { username: 'ann', password: 'secret' },
        }),
        withoutHeaders: await change({ headers: [], basic_auth: { username: '', password: '' } }),
        freed: await change({ rooms: [], order: 'none', max_in_flight: 20, max_per_second: 50 }),
        unlimited: await change({ order: 'room', max_per_second: 0 }),
        batched: await change({ format: 'cloudevents', max_batch: 100 }),
        tooMany: await change({ max_in_flight: 21 }),
        wrong: await change({ url: 'https://10.0.0.1/' }),
        absent: await client.call('webhooks.change', { id: UNKNOWN, paused: true }),
      };
    },
    expect: {
      paused: {
        ok: {
          ...WEBHOOK,
          types: ['moderation'],
          description: 'busy',
          state: 'paused',
          paused_by: 'tenant',
          paused_at: '<paused_at>',
        },
      },
      resumed: { ok: { ...WEBHOOK, types: undefined, description: undefined } },
      moved: { ok: { ...WEBHOOK, types: undefined } },
      ofRooms: { ok: { ...WEBHOOK, types: undefined, rooms: ['demo-*', 'lobby'] } },
      withHeaders: { ok: { header_names: ['x-key'], has_basic_auth: true } },
      withoutHeaders: { ok: { header_names: undefined, has_basic_auth: undefined } },
      freed: { ok: { ...WEBHOOK, types: undefined, order: 'none', max_in_flight: 20, max_per_second: 50 } },
      unlimited: { ok: { ...WEBHOOK, types: undefined, order: 'room', max_in_flight: 20 } },
      batched: {
        ok: {
          ...WEBHOOK,
          types: undefined,
          order: 'room',
          max_in_flight: 20,
          format: 'cloudevents',
          max_batch: 100,
        },
      },
      tooMany: { error: { ...INVALID.error, message: /max_in_flight/ } },
      wrong: { error: { ...INVALID.error, message: /public internet/ } },
      absent: NOT_FOUND,
    },
  },
  {
    name: 'webhooks.delete',
    run: async (at) => {
      const { client, id } = await withWebhook(at);
      const deleted = await client.call('webhooks.delete', { id });
      return {
        deleted,
        left: await client.call('webhooks.list'),
        again: await client.call('webhooks.delete', { id }),
      };
    },
    expect: { deleted: undefined, left: undefined, again: NOT_FOUND },
  },
  {
    name: 'webhooks.rotate_secret',
    run: async (at) => {
      const { client, id, secret } = await withWebhook(at);
      const rotated = await client.call('webhooks.rotate_secret', { id, overlap_seconds: 60 });
      return {
        rotated,
        isNew: rotated.ok?.secret !== secret,
        usual: await client.call('webhooks.rotate_secret', { id }),
        atOnce: await client.call('webhooks.rotate_secret', { id, overlap_seconds: 0 }),
        wrong: await client.call('webhooks.rotate_secret', { id, overlap_seconds: 604_801 }),
        absent: await client.call('webhooks.rotate_secret', { id: UNKNOWN }),
      };
    },
    expect: {
      rotated: {
        ok: {
          // The old secret signs too.
          webhook: { ...WEBHOOK, public_keys: ['<public_keys>', '<public_keys>'] },
          secret: '<secret>',
          public_key: '<public_key>',
          old_secret_retires: '<old_secret_retires>',
        },
      },
      isNew: true,
      usual: { ok: { old_secret_retires: '<old_secret_retires>' } },
      atOnce: { ok: { old_secret_retires: '<old_secret_retires>' } },
      wrong: INVALID,
      absent: NOT_FOUND,
    },
  },
];

const DELIVERIES: readonly Step[] = [
  {
    name: 'webhooks.test',
    run: async (at) => {
      const { client, id, receiver } = await withWebhook(at);
      const tested = await client.call('webhooks.test', { id });
      const [received] = receiver.received();
      const refusing = await withWebhook(at, { status: 500 });
      return {
        tested,
        isSame: received?.headers['webhook-id'] === tested.ok?.event_id,
        event: received?.event,
        refused: await refusing.client.call('webhooks.test', { id: refusing.id }),
        absent: await client.call('webhooks.test', { id: UNKNOWN }),
      };
    },
    expect: {
      tested: { ok: { ...DELIVERY, kind: 'test', seq: undefined, type: 'webhook_test' } },
      isSame: true,
      event: { type: 'webhook_test' },
      refused: {
        ok: { ...DELIVERY, kind: 'test', delivered: undefined, status: 500, answer: 'status 500' },
      },
      absent: NOT_FOUND,
    },
  },
  {
    name: 'webhooks.resend',
    run: async (at) => {
      const { client, id, receiver } = await withWebhook(at, { rooms: ['lobby'] });
      const { ok } = await client.call('webhooks.pull_events', { types: ['room_created'] });
      const [event] = ok?.events ?? [];
      const resent = await client.call('webhooks.resend', { id, seq: event?.seq });
      return {
        resent,
        isSame: resent.ok?.event_id === event?.id && resent.ok?.seq === event?.seq,
        sent: receiver.received()[0]?.event,
        tooHigh: await client.call('webhooks.resend', { id, seq: 1_000_000 }),
        absent: await client.call('webhooks.resend', { id: UNKNOWN, seq: event?.seq }),
      };
    },
    expect: {
      resent: { ok: { ...DELIVERY, kind: 'resend', seq: '<seq>', type: 'room_created' } },
      isSame: true,
      sent: { type: 'room_created', data: {} },
      tooHigh: { error: { ...INVALID.error, message: /seq must be/ } },
      absent: NOT_FOUND,
    },
  },
  {
    name: 'webhooks.resend_since',
    run: async (at) => {
      const { client, id } = await withWebhook(at, { rooms: ['lobby'] });
      // While it is paused, nothing is delivered meanwhile.
      await client.call('webhooks.change', { id, paused: true });
      const since = '2020-01-02T03:04:05.678Z';
      return {
        back: await client.call('webhooks.resend_since', { id, since }),
        absent: await client.call('webhooks.resend_since', { id: UNKNOWN, since }),
      };
    },
    expect: { back: { ok: { id: '<id>', state: 'paused' } }, absent: NOT_FOUND },
  },
  {
    name: 'webhooks.resend_failed',
    run: async (at) => {
      const { client, id } = await withWebhook(at);
      await client.call('webhooks.change', { id, paused: true });
      const since = '2020-01-02T03:04:05.678Z';
      return {
        none: await client.call('webhooks.resend_failed', { id, since }),
        absent: await client.call('webhooks.resend_failed', { id: UNKNOWN, since }),
      };
    },
    expect: {
      none: { ok: { webhook: { id: '<id>', state: 'paused' }, more: undefined } },
      absent: NOT_FOUND,
    },
  },
  {
    name: 'webhooks.dead_letters',
    run: async (at) => {
      const { client, id } = await withWebhook(at);
      return {
        none: await client.list('webhooks.dead_letters', { id }),
        wrong: await client.list('webhooks.dead_letters', { id, page_token: '~' }),
        absent: await client.list('webhooks.dead_letters', { id: UNKNOWN }),
      };
    },
    expect: {
      none: undefined,
      wrong: { error: { ...INVALID.error, message: /cursor/ } },
      absent: NOT_FOUND,
    },
  },
  {
    name: 'webhooks.deliveries',
    run: async (at) => {
      const { client, id } = await withWebhook(at, { rooms: ['lobby'] });
      const empty = await client.list('webhooks.deliveries', { id });
      const { ok } = await client.call('webhooks.pull_events', { types: ['room_created'] });
      await client.call('webhooks.test', { id });
      await client.call('webhooks.resend', { id, seq: ok?.events[0]?.seq });
      await client.call('webhooks.test', { id });
      const pages = client.pages('webhooks.deliveries', { id, page_size: 2 });
      const first = (await pages.next()).page?.length;
      const second = (await pages.next()).page?.length;
      return {
        empty,
        sizes: [first, second, (await pages.next()).page],
        all: await client.list('webhooks.deliveries', { id }),
        wrong: await client.list('webhooks.deliveries', { id, page_token: '~' }),
        large: await client.list('webhooks.deliveries', { id, page_size: 10_000 }),
        absent: await client.list('webhooks.deliveries', { id: UNKNOWN }),
      };
    },
    expect: {
      empty: undefined,
      sizes: [2, 1, undefined],
      all: {
        ok: [
          { ...DELIVERY, kind: 'test' },
          { ...DELIVERY, kind: 'resend', type: 'room_created', seq: '<seq>' },
          { ...DELIVERY, kind: 'test', seq: undefined },
        ],
      },
      wrong: { error: { ...INVALID.error, message: /cursor/ } },
      large: { error: { ...INVALID.error, message: /limit/ } },
      absent: NOT_FOUND,
    },
  },
];

const EVENTS: readonly Step[] = [
  {
    name: 'webhooks.pull_events',
    run: async (at) => {
      const { client, direct } = await at.house({ rooms: ['first', 'second'] });
      const pull = (request: object) => client.call('webhooks.pull_events', request);
      const first = await pull({ limit: 1 });
      const { after } = first.ok ?? {};
      const all = await pull({});
      const waiting = client.start('webhooks.pull_events', {
        after: all.ok?.after,
        types: ['room_created', 'room_ended'],
        wait_seconds: 20,
      });
      await direct.rooms.create({ room: 'third' });
      return {
        first,
        second: await pull({ after, limit: 1 }),
        fromZero: await pull({ after: 0, limit: 1 }),
        ofNone: await pull({ types: ['card_expiring'] }),
        waited: await waiting.outcome(),
        tooFar: await pull({ after: 1_000_000 }),
        badType: await pull({ types: ['smell'] }),
        tooMany: await pull({ limit: 1001 }),
        tooLong: await pull({ wait_seconds: 21 }),
      };
    },
    expect: {
      first: {
        ok: {
          events: [
            {
              id: '<id>',
              seq: '<seq>',
              type: 'room_created',
              timestamp: '<timestamp>',
              data: { name: 'first' },
            },
          ],
          after: '<after>',
          more: true,
        },
      },
      second: { ok: { events: [{ data: { name: 'second' } }] } },
      fromZero: { ok: { events: [{ data: { name: 'first' } }] } },
      ofNone: { ok: { events: undefined, after: '<after>', more: undefined } },
      waited: { ok: { events: [{ type: 'room_created', data: { name: 'third' } }] } },
      tooFar: { error: { ...INVALID.error, message: /after/ } },
      badType: { error: { ...INVALID.error, message: /types/ } },
      tooMany: { error: { ...INVALID.error, message: /limit/ } },
      tooLong: { error: { ...INVALID.error, message: /wait_seconds/ } },
    },
  },
  {
    name: 'webhooks.follow_events',
    run: async (at) => {
      const proxy = await at.proxy(at.world.service.port);
      const { client, direct } = await at.house({ url: proxy.url, rooms: ['first'] });
      const types = ['room_created', 'room_ended'];
      const watch = client.watch('webhooks.follow_events', { types });
      const before = await watch.until(({ data }) => data.name === 'first');
      // The request that waits is lost. The next one goes on after the last event.
      proxy.cut();
      await direct.rooms.end({ room: 'first' });
      await direct.rooms.create({ room: 'second' });
      const after = await watch.until(({ data }) => data.name === 'second');
      const end = await watch.end();
      const later = client.watch('webhooks.follow_events', { types, after: before[0]?.seq });
      const again = await later.until(({ data }) => data.name === 'second');
      await later.end();
      const wrong = client.watch('webhooks.follow_events', { after: 1_000_000 });
      return { before, after, end, isSame: same(after, again), wrong: await wrong.next() };
    },
    expect: {
      before: [{ id: '<id>', seq: '<seq>', type: 'room_created', timestamp: '<timestamp>', data: {} }],
      after: [{ type: 'room_ended', data: { name: 'first' } }, { type: 'room_created' }],
      end: { error: { kind: 'Cancelled' } },
      isSame: true,
      wrong: INVALID,
    },
  },
];

function same(one: readonly { id: string }[], other: readonly { id: string }[]): boolean {
  const ids = (events: readonly { id: string }[]) => events.map(({ id }) => id).join();
  return ids(one) === ids(other);
}

export const WEBHOOKS: readonly Step[] = [...SETTINGS, ...DELIVERIES, ...EVENTS];
