/** A ban of a room holds for the room's name, whichever room has it. */
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { describe, expect, test } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { liftEndedBans } from '../../../src/control/bans/bans.sql.ts';
import { findBrokenBans } from '../../../src/control/moderation/broken-bans.sql.ts';
import { findRevocations, findStandings } from '../../../src/control/revocations/revocations.sql.ts';
import { failureOf, useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { actor, deviceOf, mint, newStage, type Stage } from './support.ts';

const app = useService();
const controlOf = useControl(app);
const { banSubject, unbanSubject, listBans } = ModerationService.method;
const { createRoom, endRoom } = RoomService.method;

const BANNED = { code: 'PERMISSION_DENIED', reason: 'BANNED' };
const WEEK = { ttl: { seconds: 604_800n } };
const bob = { case: 'username', value: 'bob' } as const;
const phone = { case: 'deviceThumbprint', value: deviceOf('bob') } as const;
const range = { case: 'cidr', value: '192.0.2.0/24' } as const;

async function makeAgain({ control }: Stage): Promise<string> {
  await control.call(endRoom, { room: 'lobby' });
  const { room } = await control.call(createRoom, { room: 'lobby' });
  return room!.uid;
}

const idOf = ({ tenant }: Stage) => parseTenantId(tenant.id)!;

describe('after the room was made again', () => {
  test.each([
    ['a user for 7 days', bob, WEEK],
    ['a user without an end', bob, {}],
    ['a device for 7 days', phone, WEEK],
    ['a range of addresses for 7 days', range, WEEK],
  ])('a ban of %s still holds, and is lifted by the name', async (_, subject, time) => {
    const stage = await newStage(app, controlOf);
    const { control } = stage;
    const { ban } = await control.call(banSubject, { room: 'lobby', subject, ...time });
    await makeAgain(stage);
    const entering = () => mint(stage, 'bob', { address: '192.0.2.7' });
    expect(await failureOf(entering())).toMatchObject(BANNED);
    expect(await liftEndedBans(app.service.deps.db, 100)).toBe(0);
    expect(await control.call(listBans, { room: 'lobby' })).toMatchObject({ bans: [{ id: ban!.id }] });
    // Rooms of other names are none of its business.
    await control.call(createRoom, { room: 'attic' });
    await mint(stage, 'bob', { room: 'attic', address: '192.0.2.7' });

    await control.call(unbanSubject, { room: 'lobby', subject });
    await entering();
  });

  test('setting it again strengthens the same ban, and ranks count as before', async () => {
    const stage = await newStage(app, controlOf);
    const { control, roomUid } = stage;
    await mint(stage, 'ann', { role: 'host' });
    const byAnn = { room: 'lobby', subject: bob, actor: actor('ann') };
    const first = await control.call(banSubject, { ...byAnn, ...WEEK });
    await makeAgain(stage);
    const { ban } = await control.call(banSubject, { room: 'lobby', subject: bob });
    expect(ban).toMatchObject({ id: first.ban!.id, roomUid, rank: 100 });
    expect(ban!.expireTime).toBeUndefined();

    await mint(stage, 'ann', { role: 'host' });
    const lifting = control.call(unbanSubject, { room: 'lobby', subject: bob, actor: actor('ann') });
    expect(await failureOf(lifting)).toMatchObject({ reason: 'INSUFFICIENT_STANDING' });
  });

  test('the rank of the last mint still protects from lower ranks', async () => {
    const stage = await newStage(app, controlOf);
    const { control } = stage;
    await mint(stage, 'ann', { role: 'host' });
    await makeAgain(stage);
    const capabilities = ['moderate.ban'];
    await mint(stage, 'mod', { capabilities });
    const banning = () =>
      control.call(banSubject, {
        room: 'lobby',
        subject: { case: 'username', value: 'ann' },
        actor: actor('mod'),
      });
    expect(await failureOf(banning())).toMatchObject({ reason: 'INSUFFICIENT_STANDING' });
    // Now ann is of a lower rank.
    await mint(stage, 'ann', { rank: 0 });
    await banning();
    expect(await failureOf(mint(stage, 'ann', { role: 'host' }))).toMatchObject(BANNED);
  });

  test('relays learn at once which ranges are banned from the new room', async () => {
    const stage = await newStage(app, controlOf);
    const { db } = app.service.deps;
    await stage.control.call(banSubject, { room: 'lobby', subject: range });
    await stage.control.call(endRoom, { room: 'lobby' });
    const number = async () => (await findStandings(db, [idOf(stage)])).get(idOf(stage))?.seq;
    await expect.poll(number).toBeDefined();
    const before = (await number())!;
    expect((await findRevocations(db, idOf(stage)))?.bans).toEqual([]);

    const { room } = await stage.control.call(createRoom, { room: 'lobby' });
    expect((await findRevocations(db, idOf(stage)))?.bans).toMatchObject([
      { roomUid: room!.uid, kind: 'cidr', value: '192.0.2.0/24' },
    ]);
    await expect.poll(number).toBeGreaterThan(before);
    const after = (await number())!;
    await stage.control.call(createRoom, { room: 'attic' });
    expect(await number()).toBe(after);
  });

  test('a user who slipped into the new room is found', async () => {
    const stage = await newStage(app, controlOf);
    const { db } = app.service.deps;
    await makeAgain(stage);
    await mint(stage, 'bob');
    // In one transaction, because the service applies bans again each second.
    const found = await inTransaction(db, async (tx) => {
      for (const [kind, value] of [
        ['user', 'bob'],
        ['device', deviceOf('bob')],
      ]) {
        await tx.query(
          `insert into bans (tenant_id, id, room, room_uid, kind, value, rank) values ($1, $2, 'lobby', $3, $4, $5, 100)`,
          [idOf(stage), `ban_${kind}`, stage.roomUid, kind, value],
        );
      }
      return findBrokenBans(tx, { seconds: 30, limit: 100 });
    });
    const broken = found.filter(({ tenant }) => tenant === idOf(stage));
    expect(broken.map(({ room, subject }) => [room, subject.kind]).sort()).toEqual([
      ['lobby', 'device'],
      ['lobby', 'user'],
    ]);
  });
});

test('a ban is lifted while no room of the name is live', async () => {
  const stage = await newStage(app, controlOf);
  await stage.control.call(banSubject, { room: 'lobby', subject: bob, ...WEEK });
  await stage.control.call(endRoom, { room: 'lobby' });
  const { event } = await stage.control.call(unbanSubject, { room: 'lobby', subject: bob });
  expect(event).toMatchObject({ room: 'lobby', roomUid: stage.roomUid });
  expect(await stage.control.call(listBans, {})).toMatchObject({ bans: [] });
});
