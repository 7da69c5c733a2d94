import { ParticipantService } from '@boxoffice/contract/participant_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseTenantId, type TenantId } from '../../../src/base/tenants/tenant.ts';
import { Sightings } from '../../../src/control/rooms/sightings.ts';
import type { UsageRecord } from '../../../src/money/usage/usage-record.ts';
import { UsageRecords } from '../../../src/money/usage/usage-records.ts';
import { lapse, mint, toldOf } from '../../doors/grpc/mint.ts';
import { endRoom } from '../../support/devices.ts';
import { type TestControl, useControl } from '../../support/grpc.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';

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

/** Sightings that only the test itself writes. */
async function openSightings(): Promise<Sightings> {
  const { db, metrics } = app.service.deps;
  const sightings = new Sightings(db, metrics.sightingsDropped);
  await sightings.refreshTenants();
  return sightings;
}

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

test('reported usage updates the participant within seconds, without an event', async () => {
  await mint(control, { username: 'Änn', role: 'host' });
  const get = async () =>
    (await control.call(ParticipantService.method.getParticipant, { room: 'lobby', username: 'änn' }))
      .participant!;
  const report = (tier: string) =>
    app.request('POST', '/v1/usage', {
      key: tenant.relayKey,
      body: { records: [usageRecord({ room: 'lobby', participant: 'änn', tier, role: 'audience' })] },
    });
  // Records are skipped until the process knows of the tenant's participants.
  await expect
    .poll(
      async () => {
        expect((await report('full_hd')).status).toBe(200);
        return (await get()).tier;
      },
      { interval: 200 },
    )
    .toBe('full_hd');
  const participant = await get();
  expect(participant.lastSeenTime).toBeDefined();
  expect(participant.role).toBe('host');
  expect(await toldOf(app, tenant)).toStrictEqual(['entered änn']);
}, 15_000);

describe('a sighting', () => {
  test('is written if it is the newest of its participant', async () => {
    for (const username of ['ann', 'bob', 'cem']) await mint(control, { username });
    const sightings = await openSightings();
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
    const sightings = await openSightings();
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
    const sightings = await openSightings();
    sightings.note(parseTenantId(other.id)!, recordsOf({}));
    await sightings.write();
    expect(await seen()).toStrictEqual(['ann unseen']);
  });

  test('does not wait for a renewal of the participant', async () => {
    for (const username of ['ann', 'bob']) await mint(control, { username });
    const sightings = await openSightings();
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

  test('is skipped while the tenant has no participants present', async () => {
    const sightings = await openSightings();
    await mint(control);
    sightings.note(id, recordsOf({}));
    await sightings.write();
    expect(await seen()).toStrictEqual(['ann unseen']);
    await sightings.refreshTenants();
    sightings.note(id, recordsOf({}));
    await sightings.write();
    expect(await seen()).toStrictEqual(['ann hd']);
  });

  test('is dropped, and counted, beyond 20,000 participants in a second', async () => {
    await mint(control);
    const { sightingsDropped } = app.service.deps.metrics;
    const dropped = async () => (await sightingsDropped.get()).values[0]?.value ?? 0;
    const before = await dropped();
    const sightings = await openSightings();
    const crowd = (first: number, count: number) =>
      recordsOf(...Array.from({ length: count }, (_, at) => ({ participant: `user${first + at}` })));
    sightings.note(id, recordsOf({ tier: 'audio' }));
    for (let batch = 0; batch < 4; batch += 1) sightings.note(id, crowd(batch * 5_000, 5_000));
    expect(await dropped()).toBe(before + 1);
    // A participant with a sighting in memory is still updated.
    sightings.note(id, recordsOf({ tier: '2k' }, { participant: 'late' }));
    expect(await dropped()).toBe(before + 2);
    await sightings.write();
    expect(await seen()).toStrictEqual(['ann 2k']);
    sightings.note(id, recordsOf({ participant: 'late' }));
    expect(await dropped()).toBe(before + 2);
  });
});
