/** Users who enter while a ban is being set, and were checked against the bans before it. */
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { expect, test } from 'vitest';
import type { Tx } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { enterAlone, enterIn } from '../../../src/control/admission/admission-forms.sql.ts';
import { banSubject as ban } from '../../../src/control/moderation/ban-subject.ts';
import { findBrokenBans } from '../../../src/control/moderation/broken-bans.sql.ts';
import { reapplyNewBans } from '../../../src/control/moderation/reapply-new-bans.ts';
import { findStandings } from '../../../src/control/revocations/revocations.sql.ts';
import { newAdmission } from '../../support/admissions.ts';
import { moved } from '../../support/append-only.ts';
import { CallError, useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { callerOf, idOf } from '../../support/tenants.ts';
import { deviceOf, eventsSince, mint, newStage, type Stage } from './support.ts';

const app = useService();
const controlOf = useControl(app);
const { banSubject, unbanSubject, listModerationEvents } = ModerationService.method;

const user = { case: 'username', value: 'bob' } as const;
const device = { case: 'deviceThumbprint', value: deviceOf('bob') } as const;

/** Enter as a user who passed the checks a moment ago. */
function enter(stage: Stage, tx?: Tx) {
  const admission = newAdmission({
    tenant: idOf(stage.tenant),
    roomUid: stage.roomUid,
    username: 'bob',
    thumbprint: deviceOf('bob'),
    capabilities: ['chat.send'],
    keyId: stage.tenant.keyId,
  });
  return tx ? enterIn(tx, admission) : enterAlone(app.service.deps.db, admission);
}

async function bobOf(stage: Stage) {
  const { rows } = await app.service.deps.db.query<{ reason: string | null; epoch: number; devices: number }>(
    `select leave_reason as reason, epoch,
            (select count(*)::integer from admissions a where a.tenant_id = p.tenant_id) as devices
       from participants p where tenant_id = $1 and username = 'bob'`,
    [idOf(stage.tenant)],
  );
  return rows[0];
}

const typesOf = async (stage: Stage) => (await eventsSince(app, stage.tenant)).map((each) => each.type);

test.each([
  ['a user in the room', 'lobby', user],
  ['a user everywhere', '', user],
  ['a device in the room', 'lobby', device],
  ['a device everywhere', '', device],
])('ban of %s: the user leaves within seconds, with one event', async (_, room, subject) => {
  const another = await app.another();
  const stage = await newStage(app, controlOf);
  await stage.control.call(banSubject, { room, subject });
  const revoked = async () =>
    (await findStandings(app.service.deps.db, [idOf(stage.tenant)])).get(idOf(stage.tenant))!.seq;
  const before = await revoked();
  await enter(stage);
  const deps = [app.service.deps, another.service.deps];
  await Promise.all(Array.from({ length: 6 }, (_, at) => reapplyNewBans(deps[at % 2]!)));
  await expect.poll(() => bobOf(stage)).toEqual({ reason: 'banned', epoch: 1, devices: 0 });
  expect(await typesOf(stage)).toEqual([
    'room_created',
    'moderation',
    'participant_entered',
    'participant_left',
  ]);
  expect(await revoked()).toBeGreaterThan(before);
  const { events } = await stage.control.call(listModerationEvents, {});
  expect(events).toHaveLength(1);
});

test.each([
  ['was lifted', async (stage: Stage) => void (await stage.control.call(unbanSubject, { subject: user }))],
  ['has ended', (stage: Stage) => changeBan(stage, `expires_at = now() - interval '1 second'`)],
  // A user who is present after so long was admitted for another reason, such as a restored database.
  ['is old', (stage: Stage) => changeBan(stage, `set_at = ${moved('set_at', '-1 hour')}`)],
])('a ban that %s: the user stays', async (_, change) => {
  const stage = await newStage(app, controlOf);
  await stage.control.call(banSubject, { subject: user });
  await change(stage);
  await enter(stage);
  const { db } = app.service.deps;
  expect(await findBrokenBans(db, { seconds: 30, limit: 100 })).toEqual([]);
  await reapplyNewBans(app.service.deps);
  expect(await bobOf(stage)).toMatchObject({ reason: null, epoch: 0 });
});

/** An old ban. */
async function changeBan(stage: Stage, change: string): Promise<void> {
  await app.service.deps.db.query(
    `update bans set created_at = ${moved('created_at', '-1 hour')}, ${change} where tenant_id = $1`,
    [idOf(stage.tenant)],
  );
}

test('the user also leaves when the same ban is set again, which is recorded once', async () => {
  const stage = await newStage(app, controlOf);
  await stage.control.call(banSubject, { room: 'lobby', subject: user });
  const caller = callerOf(idOf(stage.tenant));
  const subject = { kind: 'user', value: 'bob' } as const;
  const again = await inTransaction(app.service.deps.db, async (tx) => {
    await enter(stage, tx);
    return ban(tx, caller, { room: 'lobby', subject, ttlMs: 1_000, reason: 'again', actor: undefined });
  });
  expect(again.event).toBeUndefined();
  expect(again.ban).toMatchObject({ reason: '', expiresAt: null });
  expect(await bobOf(stage)).toEqual({ reason: 'banned', epoch: 1, devices: 0 });
  expect((await typesOf(stage)).slice(-2)).toEqual(['participant_entered', 'participant_left']);
});

const OUTAGES = ['UNAVAILABLE', 'DEADLINE_EXCEEDED'];

/** Forty calls at once wait in turn for one room. On a busy machine, the last may wait too long. */
async function banUntilAvailable(stage: Stage, { room, value }: { room: string; value: string }) {
  const subject = { case: 'username', value } as const;
  for (let tries = 1; ; tries += 1) {
    try {
      return await stage.control.call(banSubject, { room, subject });
    } catch (error) {
      const isOutage = error instanceof CallError && OUTAGES.includes(error.code);
      if (!isOutage || tries === 10) throw error;
    }
  }
}

test.each(['lobby', ''])(
  'a ban and a first token at once (room "%s"): the user does not stay',
  async (room) => {
    const stage = await newStage(app, controlOf);
    await stage.control.call(RoomService.method.createRoom, { room: 'stage' });
    const names = Array.from({ length: 20 }, (_, n) => `user-${n}`);
    const mints = names.map((name) => mint(stage, name).catch(() => {}));
    const bans = names.map((value) => banUntilAvailable(stage, { room, value }));
    await Promise.all([...mints, ...bans]);
    const present = async () => {
      const { rows } = await app.service.deps.db.query(
        'select username from participants where tenant_id = $1 and left_at is null',
        [idOf(stage.tenant)],
      );
      return rows;
    };
    await expect.poll(present).toEqual([]);
  },
);
