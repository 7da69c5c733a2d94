import { describe, expect, test, vi } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { newTenantId, parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { appendEvents, appendNumberedEvents } from '../../../src/events/append-events.sql.ts';
import { listPublicEvents } from '../../../src/outward/events/public-events.sql.ts';
import { isWanted, wantedEvents } from '../../../src/outward/webhooks/wanted-events.ts';
import { FAST_WEBHOOKS, useReceiver } from '../../support/receiver.ts';
import { useService } from '../../support/service.ts';
import { makeTenant } from '../../support/tenants.ts';
import { makeWebhook } from './support.ts';

const app = useService({ webhooks: FAST_WEBHOOKS, makesUpEvents: true });
const receiver = useReceiver();
const db = () => app.service.deps.db;

const NAMES = ['lobby', 'demo-1', 'demo_1', 'demoX1', 'a.b', 'Demo-1', 'demo-1-late', null];
const eventOf = (name: string | null, at: number) => ({
  type: at % 2 === 0 ? 'room_created' : 'participant_left',
  roomUid: name && `rm_${at}`,
  // Rooms have a name, and what is in them has the name of its room.
  subject: name === null ? { room: 'lobby' } : at % 2 === 0 ? { name } : { room: name, name: 'lobby' },
});

const kickIn = (room: string | null) => ({
  type: 'moderation',
  roomUid: room && `rm_${room}`,
  subject: {
    action: 'kick',
    room,
    roomUid: room && `rm_${room}`,
    tracks: [],
    reason: 'noise',
    at: new Date(),
  },
});

describe('the rooms of a webhook', () => {
  test.each([
    [[], [1, 2, 3, 4, 5, 6, 7, 8]],
    [['lobby'], [1]],
    [['demo-*'], [2, 7]],
    [['demo_1'], [3]],
    [['demo?1'], []],
    [['*'], [1, 2, 3, 4, 5, 6, 7]],
    [
      ['demo*', 'lobby'],
      [1, 2, 3, 4, 7],
    ],
  ])('%j mean events %j, in SQL as here', async (rooms, expected) => {
    const tenant = await makeTenant(db(), { id: newTenantId(), status: 'active' });
    await inTransaction(db(), (tx) => appendNumberedEvents(tx, tenant, NAMES.map(eventOf)));
    const all = await listPublicEvents(db(), tenant, {
      ...wantedEvents({ types: [], rooms: [] }),
      after: 0n,
      limit: 100,
    });
    const wanted = wantedEvents({ types: [], rooms });
    const found = await listPublicEvents(db(), tenant, { ...wanted, after: 0n, limit: 100 });
    expect(found.events.map(({ seq }) => Number(seq))).toEqual(expected);
    expect(all.events.filter((each) => isWanted(wanted, each)).map(({ seq }) => Number(seq))).toEqual(
      expected,
    );
    expect([found.reached, found.lastSeq]).toEqual([8n, 8n]);
  });

  test('and its types both hold', () => {
    const [created, left] = [0, 1].map((at) => ({ ...eventOf('demo-1', at), seq: 1n, at: new Date() }));
    const wanted = wantedEvents({ types: ['room_created'], rooms: ['demo-*'] });
    expect([isWanted(wanted, created!), isWanted(wanted, left!)]).toEqual([true, false]);
  });
});

test.each(['tenant', 'room', 'none'])(
  'order %s: only events of its rooms are sent, and its place moves past the others',
  async (order) => {
    const tenant = await app.signUp();
    const path = `/rooms-${order}`;
    const { id } = await makeWebhook(app, tenant, receiver.url(path), {
      order,
      rooms: ['demo-*'],
      types: ['moderation'],
    });
    const made = ['demo-1', 'lobby', null, 'demo-2', 'lobby'].map(kickIn);
    await appendEvents(db(), parseTenantId(tenant.id)!, made);
    app.service.deps.events.wake(parseTenantId(tenant.id)!);
    await vi.waitFor(async () => {
      const { delivered_seq } = (await app.request('GET', `/v1/webhooks/${id}`, { key: tenant.key })).json;
      expect(delivered_seq).toBe(5);
    });
    expect(
      receiver
        .received(path)
        .map(({ event }) => event.seq)
        .toSorted(),
    ).toEqual([1, 4]);
  },
);
