import { ParticipantService } from '@boxoffice/contract/participant_service';
import { RoomService } from '@boxoffice/contract/room_service';
import type { QueryConfig } from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { parseTenantId, type TenantId } from '../../../src/base/tenants/tenant.ts';
import { Sightings } from '../../../src/control/rooms/sightings.ts';
import type { UsageRecord } from '../../../src/money/records/usage-record.ts';
import { UsageRecords } from '../../../src/money/records/usage-records.ts';
import { lapse, mint, toldOf } from '../../doors/grpc/mint.ts';
import { endRoom } from '../../support/devices.ts';
import { type TestControl, useControl } from '../../support/grpc.ts';
import { ask, type TestTenant, usageRecord, useService } from '../../support/service.ts';

const app = useService();
const controlOf = useControl(app);
let tenant: TestTenant;
let id: TenantId;
let control: TestControl;

beforeEach(async () => {
  tenant = await app.paidTenant();
  id = parseTenantId(tenant.id)!;
  control = controlOf(tenant);
  await control.call(RoomService.method.createRoom, { room: 'lobby' });
});

afterEach(() => {
  vi.restoreAllMocks();
});

const recordsOf = (...records: Partial<UsageRecord>[]) =>
  UsageRecords.from(
    records.map((fields, at) => ({
      id: `record-${at}`,
      role: 'audience',
      tier: 'hd',
      seconds: 30,
      egressBytes: 1n,
      ingressBytes: 1n,
      room: 'lobby',
      participant: 'ann',
      ...fields,
    })),
  );

/** 5,000 records of a megabyte. */
const crowdOf = () =>
  recordsOf(...Array.from({ length: 5_000 }, (_, at) => ({ id: 'x'.repeat(200), participant: `user${at}` })));

/** Sightings that only the test itself writes. */
function openSightings(): Sightings {
  const { db, metrics } = app.service.deps;
  return new Sightings(db, metrics.sightingsDropped);
}

const dropped = async () => {
  const { values } = await app.service.deps.metrics.sightingsDropped.get();
  return values[0]?.value ?? 0;
};

const seen = async (room = 'lobby') => {
  const { rows } = await app.service.deps.db.query<{
    username: string;
    tier: string | null;
    isSeen: boolean;
  }>(
    `select p.username, p.tier, p.last_seen_at is not null as "isSeen"
       from participants p join rooms r on r.tenant_id = p.tenant_id and r.uid = p.room_uid
      where p.tenant_id = $1 and r.name = $2 order by r.incarnation, p.username`,
    [id, room],
  );
  return rows.map(({ username, tier, isSeen }) => `${username} ${isSeen ? tier : 'unseen'}`);
};

test('the first reported usage updates the participant, in every process, without an event', async () => {
  const { url } = await app.another();
  const processes = { [app.url]: 'änn', [url]: 'bob' };
  for (const [url, username] of Object.entries(processes)) {
    await mint(control, { username, role: 'host' });
    const records = [
      usageRecord({ room: 'lobby', participant: username, tier: 'full_hd', role: 'audience' }),
    ];
    const { status } = await ask(`${url}/v1/usage`, 'POST', { key: tenant.relayKey, body: { records } });
    expect(status).toBe(200);
  }
  for (const username of Object.values(processes)) {
    const get = async () =>
      (await control.call(ParticipantService.method.getParticipant, { room: 'lobby', username }))
        .participant!;
    await expect.poll(async () => (await get()).tier).toBe('full_hd');
    const participant = await get();
    expect(participant.lastSeenTime).toBeDefined();
    expect(participant.role).toBe('host');
  }
  expect(await toldOf(app, tenant)).toStrictEqual(['entered änn', 'entered bob']);
});

describe('a sighting', () => {
  test('is written if it is the newest of its participant', async () => {
    for (const username of ['ann', 'bob', 'cem']) await mint(control, { username });
    const sightings = openSightings();
    sightings.note(id, recordsOf({ tier: 'audio' }, { participant: 'bob' }, { tier: '2k' }));
    sightings.note(id, recordsOf({ participant: 'bob', tier: '2k_plus' }));
    expect(await seen()).toStrictEqual(['ann unseen', 'bob unseen', 'cem unseen']);
    await sightings.write();
    expect(await seen()).toStrictEqual(['ann 2k', 'bob 2k_plus', 'cem unseen']);
  });

  test('applies to participants who have not left the live room of that name', async () => {
    await mint(control);
    await endRoom(app, tenant, 'lobby');
    await control.call(RoomService.method.createRoom, { room: 'lobby' });
    await mint(control);
    await mint(control, { username: 'bob' });
    await lapse(app, tenant, { username: 'bob' });
    await expect.poll(() => toldOf(app, tenant)).toContain('left bob');
    const sightings = openSightings();
    const others = [
      { room: 'other' },
      { room: undefined },
      { participant: undefined },
      { participant: 'ANN' },
      { participant: 'absent' },
    ];
    sightings.note(id, recordsOf({}, { participant: 'bob' }, ...others));
    await sightings.write();
    expect(await seen()).toStrictEqual(['ann unseen', 'ann hd', 'bob unseen']);
  });

  test('applies to the tenant of the relay', async () => {
    await mint(control);
    const other = await app.paidTenant();
    await controlOf(other).call(RoomService.method.createRoom, { room: 'lobby' });
    await mint(controlOf(other));
    const sightings = openSightings();
    sightings.note(parseTenantId(other.id)!, recordsOf({}));
    await sightings.write();
    expect(await seen()).toStrictEqual(['ann unseen']);
  });

  test('does not wait for a renewal of the participant', async () => {
    for (const username of ['ann', 'bob']) await mint(control, { username });
    const sightings = openSightings();
    sightings.note(id, recordsOf({}, { participant: 'bob' }));
    const renewal = await app.service.deps.db.connect();
    try {
      await renewal.query('begin');
      await renewal.query(`select from participants where tenant_id = $1 and username = 'ann' for update`, [
        id,
      ]);
      await sightings.write();
      await renewal.query('commit');
    } finally {
      renewal.release();
    }
    expect(await seen()).toStrictEqual(['ann unseen', 'bob hd']);
  });

  test('is not looked for while the tenant has no participants', async () => {
    const sightings = openSightings();
    const query = vi.spyOn(app.service.deps.db, 'query');
    const statements = () => query.mock.calls as unknown as [QueryConfig][];
    const updates = () => statements().filter(([{ name }]) => name?.startsWith('mark-seen')).length;
    sightings.note(id, recordsOf({}));
    await sightings.write();
    expect(updates()).toBe(0);
    await mint(control);
    sightings.note(id, recordsOf({}));
    await sightings.write();
    expect(updates()).toBe(1);
    expect(await seen()).toStrictEqual(['ann hd']);
  });

  test('is written although other tenants without participants report a lot', async () => {
    await mint(control);
    const other = parseTenantId((await app.paidTenant()).id)!;
    const sightings = openSightings();
    const before = await dropped();
    for (let batch = 0; batch < 4; batch += 1) sightings.note(other, crowdOf());
    sightings.note(id, recordsOf({}));
    await sightings.write();
    expect(await seen()).toStrictEqual(['ann hd']);
    expect(await dropped()).toBe(before);
  });

  test('is dropped, and counted, while the database does not tell which tenants have participants', async () => {
    await mint(control);
    const sightings = openSightings();
    const before = await dropped();
    const { db } = app.service.deps;
    const query = db.query.bind(db) as (...args: unknown[]) => unknown;
    const isAway = Promise.withResolvers<never>();
    const spy = vi
      .spyOn(db, 'query')
      .mockImplementation(((...args: unknown[]) =>
        (args[0] as { name?: string }).name === 'find-occupied-tenants'
          ? isAway.promise
          : query(...args)) as never);
    for (let batch = 0; batch < 8; batch += 1) sightings.note(id, crowdOf());
    expect(await dropped()).toBe(before);
    sightings.note(id, recordsOf({}));
    expect(await dropped()).toBe(before + 1);
    isAway.reject(new Error('it is away'));
    await expect(sightings.write()).rejects.toThrow('it is away');
    expect(await dropped()).toBe(before + 20_001);
    spy.mockRestore();
    sightings.note(id, recordsOf({}));
    await sightings.write();
    expect(await seen()).toStrictEqual(['ann hd']);
  });

  test('is dropped, and counted, beyond 20,000 participants in a second', async () => {
    await mint(control);
    const before = await dropped();
    const sightings = openSightings();
    const crowd = (first: number, count: number) =>
      recordsOf(...Array.from({ length: count }, (_, at) => ({ participant: `user${first + at}` })));
    sightings.note(id, recordsOf({ tier: 'audio' }));
    for (let batch = 0; batch < 4; batch += 1) sightings.note(id, crowd(batch * 5_000, 5_000));
    // A participant with a sighting in memory is still updated.
    sightings.note(id, recordsOf({ tier: '2k' }, { participant: 'late' }));
    await sightings.write();
    expect(await dropped()).toBe(before + 2);
    expect(await seen()).toStrictEqual(['ann 2k']);
    sightings.note(id, recordsOf({ participant: 'late' }));
    await sightings.write();
    expect(await dropped()).toBe(before + 2);
  });
});
