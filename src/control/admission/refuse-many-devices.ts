/** How many devices one user may have in a room: each look at the user reads them all, and so does each list of participants. */
import type { Db } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { removeExpiredDevices } from '../rooms/remove-device.sql.ts';
import type { NewAdmission } from './admissions.sql.ts';
import type { EntryState } from './entry-state.sql.ts';

const DEVICES_MAX = 1_000;

type Entrant = Pick<NewAdmission, 'tenant' | 'roomUid' | 'username'> &
  Pick<EntryState, 'isAdmitted' | 'devices'>;

/** Fails with `quota_exceeded`. Devices whose tokens have expired make room. Of those that come at once, a few may be beyond it. */
export async function refuseManyDevices(db: Db, entrant: Entrant): Promise<void> {
  if (entrant.devices < DEVICES_MAX || entrant.isAdmitted) return;
  const left = await removeExpiredDevices(db, entrant.tenant, entrant.roomUid, entrant.username);
  if (left < DEVICES_MAX) return;
  const message = `limit reached: at most ${DEVICES_MAX} devices of one user in a room`;
  throw new Failure('quota_exceeded', { message });
}
