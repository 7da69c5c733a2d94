/** Devices that enter while their credential is being revoked, and were authenticated before it. */
import { ParticipantService } from '@boxoffice/contract/participant_service';
import { expect, test } from 'vitest';
import { enterAlone } from '../../../src/control/admission/admission-forms.sql.ts';
import { reapplyNewRevocations } from '../../../src/control/moderation/reapply-new-revocations.ts';
import { findRevokedKeysInUse } from '../../../src/control/moderation/revoked-keys.sql.ts';
import { newAdmission } from '../../support/admissions.ts';
import { createCredential } from '../../support/devices.ts';
import { useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { eventsSince, newStage, type Stage } from './support.ts';

const app = useService();
const controlOf = useControl(app);

/** Enter as a device that was authenticated a moment ago. */
const enter = ({ tenant, roomUid }: Stage, username: string, keyId: string) =>
  enterAlone(
    app.service.deps.db,
    newAdmission({ tenant: idOf(tenant), roomUid, username, keyId, thumbprint: `${username} by ${keyId}` }),
  );

const find = async ({ control }: Stage, username: string) =>
  (await control.call(ParticipantService.method.getParticipant, { room: 'lobby', username })).participant!;

/** A credential that was revoked, and whose user the listener has removed. */
async function revokedCredential() {
  const stage = await newStage(app, controlOf);
  const { id } = await createCredential(app, stage.tenant);
  await enter(stage, 'first', id);
  await app.request('DELETE', `/v1/device-credentials/${id}`, { key: stage.tenant.key });
  await expect.poll(() => find(stage, 'first')).toMatchObject({ leaveReason: 'expired' });
  return { stage, id };
}

test('they leave within seconds, with one event, and other devices of the user stay', async () => {
  const another = await app.another();
  const { stage, id } = await revokedCredential();
  const other = await createCredential(app, stage.tenant);
  await enter(stage, 'bob', other.id);
  for (const name of ['ann', 'bob']) await enter(stage, name, id);
  const deps = [app.service.deps, another.service.deps];
  await Promise.all(Array.from({ length: 6 }, (_, at) => reapplyNewRevocations(deps[at % 2]!)));
  await expect.poll(() => find(stage, 'ann')).toMatchObject({ leaveReason: 'expired', devices: [] });
  expect(await find(stage, 'bob')).toMatchObject({
    leaveReason: '',
    devices: [{ thumbprint: `bob by ${other.id}` }],
  });
  const told = async (wanted: string) =>
    (await eventsSince(app, stage.tenant))
      .filter(({ type }) => type === wanted)
      .map(({ subject }) => (subject as { username: string }).username);
  expect(await told('participant_left')).toEqual(['first', 'ann']);
  // He has entered, got a second device, and lost it again.
  expect(await told('participant_updated')).toEqual(['bob']);
});

test('without a call, too', async () => {
  const { stage, id } = await revokedCredential();
  await enter(stage, 'ann', id);
  await expect.poll(() => find(stage, 'ann')).toMatchObject({ leaveReason: 'expired' });
});

test('a credential that was revoked long ago, or whose devices are gone, is not looked at again', async () => {
  const { stage, id } = await revokedCredential();
  const { db } = app.service.deps;
  const newly = { seconds: 30, limit: 100 };
  const keys = async () =>
    (await findRevokedKeysInUse(db, newly)).filter(({ tenant }) => tenant === idOf(stage.tenant));
  expect(await keys()).toEqual([]);
  await db.query(
    `update device_credentials set revoked_at = t.at
       from (select now() - interval '1 minute' as at) t where tenant_id = $1 and id = $2`,
    [idOf(stage.tenant), id],
  );
  await enter(stage, 'ann', id);
  expect(await keys()).toEqual([]);
});
