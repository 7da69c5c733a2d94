import { ModerationService } from '@boxoffice/contract/moderation_service';
import { expect, test } from 'vitest';
import { findModerationEvents } from '../../../src/control/moderation/moderation-events.sql.ts';
import { useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { newStage } from './support.ts';

const app = useService();
const controlOf = useControl(app);
const { banSubject, closeRoom } = ModerationService.method;

test('a ban has a subject, and a room that is closed has none', async () => {
  const stage = await newStage(app, controlOf);
  await stage.control.call(banSubject, { subject: { case: 'username', value: 'bob' } });
  await stage.control.call(closeRoom, { room: 'lobby' });
  const all = { room: undefined, username: undefined, before: undefined, limit: 10 };
  expect(await findModerationEvents(app.service.deps.db, idOf(stage.tenant), all)).toMatchObject([
    { action: 'close_room', subject: null },
    { action: 'ban', subject: { kind: 'user', value: 'bob' } },
  ]);
});
