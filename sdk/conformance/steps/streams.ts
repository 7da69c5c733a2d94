/** Streams of events: they resume without a gap and without a repetition. */
import { appendEvents } from '../../../src/events/append-events.sql.ts';
import type { Month } from '../../../src/money/month.ts';
import type { PublicHappening } from '../../../src/outward/events/event-catalogue.ts';
import type { Watch } from '../client.ts';
import type { Json } from '../driver.ts';
import { type Step, waitFor } from '../step.ts';

const ROOMS_OF_SNAPSHOT = 150;

const isBookmark = ({ type }: Json) => type === 'bookmark';

const SOME_TIME = new Date('2026-11-24T11:37:17.995Z');

/** Events of money and of what else alerts a tenant. Each has members that the others leave out. */
const ACCOUNT_EVENTS: readonly PublicHappening[] = [
  { type: 'credit_restored', subject: { balance: '20000000', admitted: true } },
  {
    type: 'top_up_failed',
    subject: { automatic: true, amount: '20000000', paymentId: 'pi_1', error: 'card_declined' },
  },
  {
    type: 'payment_reversed',
    subject: { paymentId: 'pi_1', kind: 'refund', reference: 're_1', amount: '-3000000' },
  },
  {
    type: 'tenant_status_changed',
    subject: { from: 'pending', to: 'active', exempt: false, admitted: true },
  },
  { type: 'balance_low', subject: { balance: '-5', below: '5000000' } },
  {
    type: 'budget_alert',
    subject: {
      budget: 'acme',
      percent: 80,
      spent: '8000001',
      limit: '10000000',
      periodStartedAt: new Date('2026-11-22T00:00:00.000Z'),
    },
  },
  { type: 'balance_recovered', subject: { balance: '5000001', below: '5000000' } },
  {
    type: 'runway_low',
    subject: {
      balance: '9748543',
      belowHours: 70,
      burnPerHour: '251457',
      runwayHours: 38.76,
      emptyAt: SOME_TIME,
    },
  },
  {
    type: 'runway_low',
    subject: { balance: '0', belowHours: 70, burnPerHour: '1', runwayHours: 0, emptyAt: null },
  },
  {
    type: 'runway_recovered',
    subject: { balance: '9', belowHours: 70, burnPerHour: '0', runwayHours: null, emptyAt: null },
  },
  {
    type: 'payment_disputed',
    subject: {
      paymentId: 'pi_1',
      kind: 'dispute',
      reference: 'du_1',
      amount: '12000000',
      reason: 'duplicate',
    },
  },
  {
    type: 'payment_dispute_closed',
    subject: { paymentId: 'pi_1', reference: 'du_1', outcome: 'won' },
  },
  { type: 'card_expiring', subject: { brand: 'visa', last4: '4242', expires: '2026-12' } },
  {
    type: 'grant_expiring',
    subject: { grantId: 'gr_1', reason: 'a gift', amount: '9', left: '4', expiresAt: SOME_TIME },
  },
  { type: 'conflicting_duplicates', subject: { count: 3, ids: ['a', 'b'], firstAt: SOME_TIME } },
  {
    type: 'statement_ready',
    subject: { month: '2026-10' as Month, opening: '-5', closing: '20000000' },
  },
  {
    type: 'key_retiring',
    subject: { keyId: '0123456789abcdef', name: 'studio', kind: 'relay', retiresAt: SOME_TIME },
  },
  {
    type: 'webhook_paused',
    subject: {
      webhookId: 'wh_1',
      host: 'x.example:8443',
      description: 'a test',
      reason: 'failing',
      seq: 7,
      attempts: 10,
      status: 503,
      error: null,
    },
  },
];

/** Seqs and rooms of news, in order. */
function newsOf(events: readonly Json[]): Json {
  const news = events.filter(({ seq, type }) => seq !== undefined && type !== 'bookmark' && type !== 'reset');
  return news.map(({ seq, type, room }) => `${seq} ${type} ${room?.name}`);
}

async function untilRoom(watch: Watch, name: string): Promise<Json[]> {
  return await watch.until(({ type, room }) => type === 'room_created' && room.name === name);
}

export const STREAMS: readonly Step[] = [
  {
    name: 'a stream that is cut resumes without gap or repetition',
    run: async (at) => {
      const proxy = await at.proxy();
      const { client, direct } = await at.house({ control_url: proxy.url });
      const watch = client.watch('rooms.watch', {});
      await watch.until(isBookmark);
      const events: Json[] = [];
      for (const [before, between] of [
        ['1', '2'],
        ['3', '4'],
      ] as const) {
        await direct.rooms.create({ room: before });
        events.push(...(await untilRoom(watch, before)));
        proxy.cut();
        await direct.rooms.create({ room: between });
      }
      await direct.rooms.create({ room: '5' });
      events.push(...(await untilRoom(watch, '5')));
      return { news: newsOf(events), isReopened: proxy.opened > 1, end: await watch.end() };
    },
    expect: {
      news: ['1', '2', '3', '4', '5'].map((name) => `${name} room_created ${name}`),
      isReopened: true,
      end: { error: { kind: 'Cancelled' } },
    },
  },
  {
    name: 'a stream that is cut inside its snapshot begins again with a reset',
    run: async (at) => {
      const proxy = await at.proxy();
      const { client, direct } = await at.house({ control_url: proxy.url });
      const names = Array.from({ length: ROOMS_OF_SNAPSHOT }, (_, index) => `room-${index}`);
      for (let from = 0; from < names.length; from += 8) {
        await Promise.all(names.slice(from, from + 8).map((room) => direct.rooms.create({ room })));
      }
      proxy.cutAfterBytes = 12_000;
      const watch = client.watch('rooms.watch', {});
      const events = await watch.until(isBookmark);
      await watch.end();
      const lastReset = events.findLastIndex(({ type }) => type === 'reset');
      // A library may drop what came before the cut and was not read, its first reset included. What was read makes the
      // snapshot too long, unless another reset follows it.
      const last = events.slice(lastReset + 1, -1);
      const seen = new Set(last.map(({ room }) => room.name));
      return {
        isReopened: proxy.opened > 1,
        begins: events[0].type,
        snapshot: last.length,
        isComplete: names.every((name) => seen.has(name)),
      };
    },
    expect: { isReopened: true, begins: 'reset', snapshot: ROOMS_OF_SNAPSHOT, isComplete: true },
  },
  {
    name: 'a stream survives a restart of the service',
    run: async (at) => {
      const before = await at.world.another();
      const proxy = await at.proxy(before.grpcPort);
      const { client, direct } = await at.house({ control_url: proxy.url });
      const watch = client.watch('rooms.watch', {});
      await watch.until(isBookmark);
      await direct.rooms.create({ room: '1' });
      const events = await untilRoom(watch, '1');
      await before.stop();
      await direct.rooms.create({ room: '2' });
      proxy.target = at.world.service.grpcPort;
      await direct.rooms.create({ room: '3' });
      events.push(...(await untilRoom(watch, '3')));
      await watch.end();
      return newsOf(events);
    },
    expect: ['1 room_created 1', '2 room_created 2', '3 room_created 3'],
  },
  {
    name: 'a stream that falls silent is reopened',
    run: async (at) => {
      const proxy = await at.proxy();
      const { client, direct } = await at.house({ control_url: proxy.url });
      const watch = client.watch('rooms.watch', {}, { silent_ms: 800 });
      await watch.until(isBookmark);
      proxy.holdsAnswers = true;
      const heldAt = performance.now();
      await direct.rooms.create({ room: '1' });
      // Only an SDK that gave the stream up says something. A cut before that would open it again anyway.
      await waitFor(
        () => performance.now() - proxy.quietMs,
        (arrivedAt) => arrivedAt > heldAt + 400,
      );
      proxy.holdsAnswers = false;
      // What was dropped is missing in every stream of this connection.
      proxy.cut();
      const events = await untilRoom(watch, '1');
      await watch.end();
      return newsOf(events);
    },
    expect: ['1 room_created 1'],
  },
  {
    name: 'a stream resumes after the event whose token is given',
    run: async (at) => {
      const { client, direct } = await at.house();
      for (const room of ['1', '2', '3']) await direct.rooms.create({ room });
      const { ok } = await client.call('rooms.list_events', { page_size: 1 });
      const watch = client.watch('rooms.watch', { resume_token: ok.resume_token });
      const events = await untilRoom(watch, '3');
      await watch.end();
      return newsOf(events);
    },
    expect: ['2 room_created 2', '3 room_created 3'],
  },
  {
    name: 'a stream ends with a failure that another attempt would not mend',
    run: async (at) => {
      const { client, direct } = await at.house();
      const absent = await client.watch('rooms.watch', { room: 'absent' }).next();
      const wrong = await client.watch('rooms.watch', { resume_token: '~' }).next();
      const { apiKey, key } = await direct.keys.create({ name: 'short' });
      const other = await at.client({ api_key: apiKey });
      const watch = other.watch('rooms.watch', {});
      await watch.until(isBookmark);
      await direct.keys.revoke({ id: key.id });
      return { absent, wrong, revoked: await nextError(watch) };
    },
    expect: {
      absent: { error: { kind: 'NotFound', reason: 'NOT_FOUND', has_request_id: true } },
      wrong: { error: { kind: 'Invalid', fields: ['resume_token'] } },
      revoked: { error: { kind: 'Unauthenticated', reason: 'INVALID_API_KEY' } },
    },
  },
  {
    name: 'a stream of the whole tenant has the events of the account',
    run: async (at) => {
      const { client, direct } = await at.house();
      const watch = client.watch('rooms.watch', {});
      await watch.until(isBookmark);
      const { key } = await direct.keys.create({ name: 'second', kind: 'relay' });
      await direct.keys.rotate({ id: key.id, overlapSeconds: 60 });
      await direct.keys.revoke({ id: key.id });
      const { deviceCredential } = await direct.deviceCredentials.create({ name: 'kiosk', publish: [] });
      await direct.deviceCredentials.revoke({ id: deviceCredential.id });
      const events = await watch.until(({ type }) => type === 'device_credential_revoked');
      await watch.end();
      return events.filter((event) => !isBookmark(event));
    },
    expect: [
      { type: 'key_created', api_key: { key: { name: 'second', kind: 'relay' } } },
      { type: 'key_rotated', api_key: { replaced_id: '<replaced_id>' } },
      { type: 'key_revoked', api_key: { key: { revoke_time: '<revoke_time>' } } },
      { type: 'device_credential_created', device_credential: { credential: { name: 'kiosk' } } },
      { type: 'device_credential_revoked', device_credential: { credential: { name: 'kiosk' } } },
    ],
  },
  {
    name: 'a stream has the events of money and of what else alerts the tenant',
    run: async (at) => {
      const { client, tenant } = await at.house();
      const watch = client.watch('rooms.watch', {});
      await watch.until(isBookmark);
      const events = ACCOUNT_EVENTS.map((each) => ({ ...each, roomUid: null }));
      await appendEvents(at.world.db, tenant, events);
      const seen = await watch.until(({ type }) => type === 'webhook_paused');
      await watch.end();
      return seen.filter((event) => !isBookmark(event));
    },
    expect: [
      { type: 'credit_restored', credit: { balance_micros: 20_000_000, admitted: true } },
      {
        type: 'top_up_failed',
        top_up: {
          automatic: true,
          amount_micros: 20_000_000,
          payment_id: '<payment_id>',
          error: 'card_declined',
        },
      },
      {
        type: 'payment_reversed',
        payment_reversal: {
          payment_id: '<payment_id>',
          kind: 'refund',
          reference: 're_1',
          amount_micros: -3_000_000,
        },
      },
      {
        type: 'tenant_status_changed',
        tenant_status: { from: 'pending', to: 'active', admitted: true },
      },
      { type: 'balance_low', balance_alert: { balance_micros: -5, below_micros: 5_000_000 } },
      {
        type: 'budget_alert',
        budget_alert: { budget: 'acme', percent: 80, spent_micros: 8_000_001, limit_micros: 10_000_000 },
      },
      { type: 'balance_recovered', balance_alert: { balance_micros: 5_000_001 } },
      {
        type: 'runway_low',
        runway_alert: {
          balance_micros: 9_748_543,
          below: 252_000,
          burn_per_hour_micros: 251_457,
          runway: 139_536,
          empty_time: '<empty_time>',
        },
      },
      { type: 'runway_low', runway_alert: { below: 252_000, burn_per_hour_micros: 1 } },
      { type: 'runway_recovered', runway_alert: { below: 252_000, balance_micros: 9 } },
      {
        type: 'payment_disputed',
        payment_dispute: {
          kind: 'dispute',
          reference: 'du_1',
          amount_micros: 12_000_000,
          reason: 'duplicate',
        },
      },
      { type: 'payment_dispute_closed', payment_dispute_end: { reference: 'du_1', outcome: 'won' } },
      { type: 'card_expiring', card_expiry: { brand: 'visa', last4: '4242', expires: '2026-12' } },
      {
        type: 'grant_expiring',
        grant_expiry: { reason: 'a gift', amount_micros: 9, left_micros: 4, expire_time: '<expire_time>' },
      },
      {
        type: 'conflicting_duplicates',
        conflicting_duplicates: { count: 3, ids: ['a', 'b'], first_time: '<first_time>' },
      },
      {
        type: 'statement_ready',
        ready_statement: { month: '2026-10', opening_micros: -5, closing_micros: 20_000_000 },
      },
      {
        type: 'key_retiring',
        key_retirement: {
          key_id: '<key_id>',
          name: 'studio',
          kind: 'relay',
          retire_time: '<retire_time>',
        },
      },
      {
        type: 'webhook_paused',
        webhook_pause: {
          webhook_id: 'wh_1',
          host: 'x.example:8443',
          description: 'a test',
          reason: 'failing',
          attempts: 10,
          status: 503,
        },
      },
    ],
  },
  {
    name: 'a stream has the events of watchdogs and moderation',
    run: async (at) => {
      const { client, direct } = await at.house({ rooms: ['lobby'] });
      const watch = client.watch('rooms.watch', { room: 'lobby' });
      await watch.until(isBookmark);
      await direct.moderation.ban({ room: 'lobby', cidr: '192.0.2.0/24', ttlSeconds: 60 });
      const armed = { room: 'lobby', unusedForSeconds: 1, action: 'end_room' } as const;
      await direct.watchdogs.create(armed);
      const events = await watch.until(({ type }) => type === 'watchdog_fired');
      await watch.end();
      return events.filter((event) => !isBookmark(event));
    },
    expect: [
      {
        type: 'moderation',
        moderation: { action: 'ban', cidr: '192.0.2.0/24', expire_time: '<expire_time>' },
      },
      { type: 'room_ended', room: { end_reason: 'watchdog' } },
      { type: 'moderation', moderation: { action: 'close_room', watchdog_id: '<watchdog_id>' } },
      { type: 'watchdog_fired', watchdog: { unused_for: 1, state: 'fired' } },
    ],
  },
];

/** The error that ends a stream. Bookmarks before it do not matter. */
async function nextError(watch: Watch): Promise<Json> {
  let last: Json = {};
  await waitFor(
    async () => {
      last = await watch.next();
      return last.event === undefined;
    },
    (isError) => isError,
  );
  return last;
}
