/** Moderators who act at the same time, while users enter. */
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { expect, test } from 'vitest';
import { ROLE_CAPABILITIES } from '../../../src/access/rights/capabilities.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { enterIn, renewIn } from '../../../src/control/admission/admission-forms.sql.ts';
import { banSubject as ban } from '../../../src/control/moderation/ban-subject.ts';
import { newAdmission } from '../../support/admissions.ts';
import { failureOf, useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { callerOf } from '../../support/tenants.ts';
import { deviceOf, eventsSince, isLockAwaited, lastSeq, mint, newStage, read } from './support.ts';

const app = useService();
const controlOf = useControl(app);
const { kickParticipant, banSubject, unbanSubject, closeRoom, listModerationEvents } =
  ModerationService.method;

const twenty = <T>(work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: 20 }, (_, n) => work(n)));

test.each(['lobby', ''])('twenty equal bans at once create one (room "%s")', async (room) => {
  const stage = await newStage(app, controlOf);
  await mint(stage, 'bob');
  const subject = { case: 'username', value: 'bob' } as const;
  const answers = await twenty(() => stage.control.call(banSubject, { room, subject }));
  expect(new Set(answers.map((answer) => answer.ban!.id)).size).toBe(1);
  expect(answers.filter((answer) => answer.event)).toHaveLength(1);
  const { events } = await stage.control.call(listModerationEvents, {});
  expect(events).toHaveLength(1);
});

test('bans that are set and lifted at once leave one or none, and a gapless history', async () => {
  const stage = await newStage(app, controlOf);
  const subject = { case: 'cidr', value: '192.0.2.0/24' } as const;
  const outcomes = await twenty((n) =>
    stage.control.call(n % 2 ? banSubject : unbanSubject, { subject }).then(
      (answer) => (answer.event ? (n % 2 ? 1 : -1) : 0),
      (error) => {
        expect(error).toMatchObject({ code: 'NOT_FOUND' });
        return 0;
      },
    ),
  );
  const { bans } = await stage.control.call(ModerationService.method.listBans, {});
  expect(bans).toHaveLength(outcomes.reduce<number>((sum, each) => sum + each, 0));
  const events = await eventsSince(app, stage.tenant);
  expect(events.map((each) => each.seq)).toEqual(events.map((_, at) => BigInt(at + 1)));
});

test('a token minted after the response to a kick has the new epoch', async () => {
  const stage = await newStage(app, controlOf);
  await mint(stage, 'bob');
  for (let round = 1; round <= 5; round += 1) {
    const kick = stage.control.call(kickParticipant, { room: 'lobby', username: 'bob' });
    const during = twenty(() => mint(stage, 'bob'));
    await kick;
    const after = Array.from({ length: 5 }, () => mint(stage, 'bob'));
    const epochs = await Promise.all((await Promise.all(after)).map((minted) => read(app, minted)));
    expect(epochs.map(({ ep }) => ep)).toEqual(Array(5).fill(round));
    for (const minted of await during) {
      expect([round - 1, round]).toContain((await read(app, minted)).ep);
    }
  }
});

test('a room that was closed while users entered is empty', async () => {
  const stage = await newStage(app, controlOf);
  for (let round = 0; round < 3; round += 1) {
    const before = await lastSeq(app, stage.tenant);
    const joins = twenty((n) =>
      mint(stage, `user-${n}`).then(
        () => 'in',
        (error) => error.reason,
      ),
    );
    const { room } = await stage.control.call(closeRoom, { room: 'lobby' });
    expect(new Set(['in', 'ROOM_ENDED', ...(await joins)]).size).toBe(2);
    const { rows } = await app.service.deps.db.query(
      `select username from participants
        where tenant_id = $1 and room_uid = $2 and (left_at is null or leave_reason <> 'ended')`,
      [parseTenantId(stage.tenant.id), room!.uid],
    );
    expect(rows).toEqual([]);
    const types = (await eventsSince(app, stage.tenant, before)).map((each) => each.type);
    const count = (type: string) => types.filter((each) => each === type).length;
    expect(count('participant_left')).toBe(count('participant_entered'));
    expect(types.slice(-2)).toEqual(['room_ended', 'moderation']);
    await stage.control.call(RoomService.method.createRoom, { room: 'lobby' });
  }
});

const isWaiting = () => isLockAwaited(app);

test('two address ranges that are banned at once do not both count as the thousandth', async () => {
  const stage = await newStage(app, controlOf);
  const tenant = parseTenantId(stage.tenant.id)!;
  await app.service.deps.db.query(
    `insert into bans (tenant_id, id, kind, value, network, rank)
     select $1, 'ban_' || n, 'cidr', network::text, network, 100
       from generate_series(1, 999) n, lateral (select set_masklen(inet '10.0.0.0' + n, 32)::cidr as network) x`,
    [tenant],
  );
  const { db } = app.service.deps;
  const second = await inTransaction(db, async (tx) => {
    const caller = callerOf(tenant);
    const subject = { kind: 'cidr', value: '192.0.2.1/32' } as const;
    await ban(tx, caller, { room: undefined, subject, ttlMs: null, reason: '', actor: undefined });
    const late = stage.control.call(banSubject, { subject: { case: 'cidr', value: '192.0.2.2/32' } });
    await expect.poll(isWaiting).toBe(true);
    return { failure: failureOf(late) };
  });
  expect(await second.failure).toMatchObject({ code: 'FAILED_PRECONDITION', reason: 'TOO_MANY_BANS' });
});

test('a ban in all rooms waits for users who are entering, and finds every device', async () => {
  const stage = await newStage(app, controlOf);
  const tenant = parseTenantId(stage.tenant.id)!;
  await mint(stage, 'bob');
  const { db } = app.service.deps;
  const banned = await inTransaction(db, async (tx) => {
    const given = { tenant, roomUid: stage.roomUid, username: 'bob', thumbprint: deviceOf('another') };
    await enterIn(tx, newAdmission(given));
    const ban = stage.control.call(banSubject, { subject: { case: 'username', value: 'bob' } });
    await expect.poll(isWaiting).toBe(true);
    return { ban };
  });
  expect((await banned.ban).event).toBeDefined();
  const { rows } = await db.query('select device from admissions where tenant_id = $1', [tenant]);
  expect(rows).toEqual([]);
});

test('a ban of a device waits for another device of the user to renew, and the user stays', async () => {
  const stage = await newStage(app, controlOf);
  const tenant = parseTenantId(stage.tenant.id)!;
  await mint(stage, 'bob', { device: deviceOf('another') });
  const { db } = app.service.deps;
  await db.query('update admissions set expires_at = now() where tenant_id = $1', [tenant]);
  await mint(stage, 'bob');
  const banned = await inTransaction(db, async (tx) => {
    const renewed = await renewIn(tx, {
      tenant,
      roomUid: stage.roomUid,
      username: 'bob',
      thumbprint: deviceOf('another'),
      role: 'audience',
      rank: 20,
      capabilities: [...ROLE_CAPABILITIES.audience].sort(),
      keyId: stage.tenant.keyId,
      customer: null,
      lifetimeSeconds: 600,
    });
    expect(renewed).toBeDefined();
    const subject = { case: 'deviceThumbprint', value: deviceOf('bob') } as const;
    const ban = stage.control.call(banSubject, { room: 'lobby', subject });
    await expect.poll(isWaiting).toBe(true);
    return { ban };
  });
  expect((await banned.ban).event).toBeDefined();
  const { rows } = await db.query(
    `select a.device, p.left_at as "leftAt", p.expires_at = a.expires_at as agrees
       from participants p join admissions a using (tenant_id, room_uid, username) where p.tenant_id = $1`,
    [tenant],
  );
  expect(rows).toEqual([{ device: deviceOf('another'), leftAt: null, agrees: true }]);
});

test('a ban in all rooms locks nothing in a room while it waits for another room', async () => {
  const stage = await newStage(app, controlOf);
  const tenant = parseTenantId(stage.tenant.id)!;
  const { room } = await stage.control.call(RoomService.method.createRoom, { room: 'stage' });
  await mint(stage, 'bob');
  await mint(stage, 'bob', { room: 'stage' });
  const { db } = app.service.deps;
  // The rooms are locked in order, so the later one waits.
  const [, last] = [stage.roomUid, room!.uid].sort();
  const banned = await inTransaction(db, async (tx) => {
    await tx.query('select from rooms where tenant_id = $1 and uid = $2 for update', [tenant, last]);
    const wide = stage.control.call(banSubject, { subject: { case: 'username', value: 'bob' } });
    await expect.poll(isWaiting).toBe(true);
    await tx.query('select from participants where tenant_id = $1 for update nowait', [tenant]);
    return { wide };
  });
  expect((await banned.wide).event).toBeDefined();
});

test('a user who is banned everywhere and kicked from each room at once is in no room afterwards', async () => {
  const stage = await newStage(app, controlOf);
  const rooms = Array.from({ length: 5 }, (_, n) => `room-${n}`);
  for (const room of rooms) {
    await stage.control.call(RoomService.method.createRoom, { room });
    await mint(stage, 'bob', { room });
  }
  const subject = { case: 'username', value: 'bob' } as const;
  const kicks = rooms.map((room) => stage.control.call(kickParticipant, { room, username: 'bob' }));
  await Promise.all([stage.control.call(banSubject, { subject }), ...kicks]);
  const { rows } = await app.service.deps.db.query(
    'select 1 from participants where tenant_id = $1 and left_at is null',
    [parseTenantId(stage.tenant.id)],
  );
  expect(rows).toEqual([]);
});
