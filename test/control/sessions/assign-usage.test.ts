/** Usage of rooms where users enter, leave and come back, and the sessions that it is assigned to. */
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { beforeEach, expect, test, vi } from 'vitest';
import { runTogether } from '../../../src/base/db/pipeline.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { SessionFilter } from '../../../src/control/sessions/session.ts';
import { hasUsagePlaces } from '../../../src/control/sessions/session-cursors.sql.ts';
import { findSessions } from '../../../src/control/sessions/sessions.sql.ts';
import { TIERS } from '../../../src/money/pricing/role.ts';
import { manyRecords, report } from '../../doors/rest/ledger-routes.ts';
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

test('without rooms, sessions and budgets, usage counts for names of rooms, whatever the size of its batches', async () => {
  const tenant = await app.paidTenant();
  const { rows: before } = await inTransaction(db(), async (tx) => ({
    rows: (await runTogether(tx, [hasUsagePlaces(idOf(tenant))]))[0],
  }));
  expect(before).toEqual([{ hasPlaces: false }]);
  for (const count of [3, 1, 20]) await report(app, tenant, manyRecords(count));
  await assignAll(db(), idOf(tenant));
  // One that does not name its records is read by participant.
  for (const count of [2, 60]) await report(app, tenant, manyRecords(count));
  await assignAll(db(), idOf(tenant));
  const sums = 'count(*)::integer as records, sum(amount)::text as amount, sum(egress_bytes)::text as bytes';
  const { rows: stored } = await db().query(
    `select coalesce(room, '') collate "C" as room, ${sums} from usage_records where tenant_id = $1 group by 1 order by 1`,
    [idOf(tenant)],
  );
  const { rows: added } = await db().query(
    `select room collate "C" as room, records::integer, amount::text, egress_bytes::text as bytes from room_usage
      where tenant_id = $1 and not is_assigned and room_uid = '' order by 1`,
    [idOf(tenant)],
  );
  expect(added).toEqual(stored);
  await expectAllAssigned(db(), idOf(tenant));
});

test.each(['room', 'budget'] as const)('a tenant with a %s has participants told apart', async (kind) => {
  const tenant = await app.paidTenant();
  if (kind === 'room') await controlOf(tenant).call(RoomService.method.createRoom, { room: 'lobby' });
  else {
    const body = { period: 'month', limit_micros: 5_000_000, hard: true };
    const made = await app.request('PUT', '/v1/budgets/all', { key: tenant.key, body });
    expect(made.status).toBeLessThan(300);
  }
  const [has] = await inTransaction(db(), (tx) => runTogether(tx, [hasUsagePlaces(idOf(tenant))]));
  expect(has).toEqual([{ hasPlaces: true }]);
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
