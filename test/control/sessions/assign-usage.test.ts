/** Usage of rooms where users enter, leave and come back, and the sessions that it is assigned to. */
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { beforeEach, expect, test, vi } from 'vitest';
import type { SessionFilter } from '../../../src/control/sessions/session.ts';
import { findSessions } from '../../../src/control/sessions/sessions.sql.ts';
import { TIERS } from '../../../src/money/pricing/role.ts';
import { report } from '../../doors/rest/ledger-routes.ts';
import { useControl } from '../../support/grpc.ts';
import { usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { mint, newStage, type Stage } from '../moderation/support.ts';
import { assignAll, expectAllAssigned } from './support.ts';

const app = useService();
const controlOf = useControl(app);
let stage: Stage;

beforeEach(async () => {
  stage = await newStage(app, controlOf);
});

const db = () => app.service.deps.db;
const EVERY: SessionFilter = {
  room: undefined,
  participant: undefined,
  key: undefined,
  customer: undefined,
  from: undefined,
  to: undefined,
};

async function sessionsOf() {
  const sessions = await findSessions(db(), idOf(stage.tenant), EVERY, { after: null, limit: 100 });
  return sessions.map(({ participant, leaveReason, usage }) => [
    participant,
    leaveReason,
    usage.records,
    usage.seconds[TIERS.indexOf('hd')],
  ]);
}

const record = (fields: object) => usageRecord({ room: 'lobby', tier: 'hd', seconds: 0, ...fields });

test('a record goes to the session of its participant, and what has none stays unassigned', async () => {
  await mint(stage, 'ann', { role: 'host' });
  await mint(stage, 'bob');
  await report(app, stage.tenant, [
    record({ participant: 'ann' }),
    // As the user typed it.
    record({ participant: 'Ann' }),
    record({ participant: 'bob' }),
    record({ participant: 'stranger' }),
    record({ participant: undefined }),
  ]);
  await assignAll(db(), idOf(stage.tenant));
  expect(await sessionsOf()).toEqual([
    ['bob', null, 1n, 0n],
    ['ann', null, 2n, 0n],
  ]);
  const { rows } = await db().query(
    'select room, room_uid as uid, records from room_usage where tenant_id = $1 and not is_assigned',
    [idOf(stage.tenant)],
  );
  expect(rows).toEqual([{ room: 'lobby', uid: stage.roomUid, records: 2n }]);
  await expectAllAssigned(db(), idOf(stage.tenant));
});

test('a user may have the name that stands for erased ones, and pays as all do', async () => {
  await mint(stage, '(erased)', { customer: 'acme' });
  await report(app, stage.tenant, [record({ participant: '(erased)', seconds: 60 })]);
  await assignAll(db(), idOf(stage.tenant));
  expect(await sessionsOf()).toEqual([['(erased)', null, 1n, 60n]]);
  await stage.control.call(ModerationService.method.kickParticipant, { room: 'lobby', username: '(erased)' });
  await vi.waitFor(async () => expect((await sessionsOf())[0]?.[1]).toBe('kicked'), 60_000);
});

test('who leaves and comes back has another session, also in the next incarnation', async () => {
  const { control } = stage;
  await mint(stage, 'ann');
  await report(app, stage.tenant, [record({ participant: 'ann' })]);
  await control.call(ModerationService.method.kickParticipant, { room: 'lobby', username: 'ann' });
  await mint(stage, 'ann');
  await report(app, stage.tenant, [record({ participant: 'ann' }), record({ participant: 'ann' })]);
  await control.call(RoomService.method.endRoom, { room: 'lobby' });
  await control.call(RoomService.method.createRoom, { room: 'lobby' });
  await mint(stage, 'ann');
  await vi.waitFor(async () => expect((await sessionsOf()).length).toBe(3), 60_000);
  await report(app, stage.tenant, [record({ participant: 'ann' })]);
  await assignAll(db(), idOf(stage.tenant));
  const sessions = await sessionsOf();
  expect(sessions.map(([, reason]) => reason)).toEqual([null, 'ended', 'kicked']);
  expect(sessions.reduce((sum, [, , records]) => sum + (records as bigint), 0n)).toBe(4n);
  await expectAllAssigned(db(), idOf(stage.tenant));
});
