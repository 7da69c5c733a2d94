import { beforeEach, expect, test } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { banSubject } from '../../../src/control/moderation/ban-subject.ts';
import { kickParticipant } from '../../../src/control/moderation/kick-participant.ts';
import { useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { callerOf } from '../../support/tenants.ts';
import { mint, newStage, type Stage } from './support.ts';

const app = useService();
const controlOf = useControl(app);
const actor = undefined;
const reason = '';
let stage: Stage;

beforeEach(async () => {
  stage = await newStage(app, controlOf);
  await mint(stage, 'bob');
});

test.each([
  ['a kick', kickParticipant, { room: 'lobby', username: 'bob', reason, actor }],
  [
    'a ban',
    banSubject,
    { room: 'lobby', subject: { kind: 'user', value: 'bob' }, ttlMs: null, reason, actor },
  ],
  [
    'a wide ban',
    banSubject,
    { room: undefined, subject: { kind: 'user', value: 'bob' }, ttlMs: null, reason, actor },
  ],
] as const)('%s wakes the watchdogs of the room that the user leaves', async (_, moderate, request) => {
  const tenant = parseTenantId(stage.tenant.id)!;
  const caller = callerOf(tenant);
  const { db, events } = app.service.deps;
  await db.query(
    `insert into watchdogs (tenant_id, id, room_uid, condition, duration_ms, action, check_at)
     values ($1, 'dog', $2, 'empty_for', 60000, 'notify', null)`,
    [tenant, stage.roomUid],
  );
  await inTransaction(db, (tx) => (moderate as typeof banSubject)(tx, caller, request as never));
  events.wake(tenant);
  const isAwake = async () => {
    const { rows } = await db.query(
      'select check_at is not null as awake from watchdogs where tenant_id = $1',
      [tenant],
    );
    return rows;
  };
  await expect.poll(isAwake).toEqual([{ awake: true }]);
});
