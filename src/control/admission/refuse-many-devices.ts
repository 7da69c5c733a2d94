/** How many devices one user may have in a room: each look at the user reads them all, and so does each list of participants. */
import type { Db } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { removeExpiredDevices } from '../rooms/remove-device.sql.ts';
import type { NewAdmission } from './admissions.sql.ts';
import type { EntryState } from './entry-state.sql.ts';

const DEVICES_MAX = 1_000;
/** A join proves no name, so joins under the name of a user leave places for devices that a back end vouches for. */
const JOINED_MAX = 500;

type Entrant = Pick<NewAdmission, 'tenant' | 'roomUid' | 'username' | 'mayLower'> &
  Pick<EntryState, 'isAdmitted' | 'devices'>;

/** Fails with `quota_exceeded`. Devices whose tokens have expired make room. Of those that come at once, a few may be beyond it. */
export async function refuseManyDevices(db: Db, entrant: Entrant): Promise<void> {
  const max = entrant.mayLower ? DEVICES_MAX : JOINED_MAX;
  if (entrant.devices < max || entrant.isAdmitted) return;
  const left = await removeExpiredDevices(db, entrant.tenant, entrant.roomUid, entrant.username);
  if (left < max) return;
  const message = `limit reached: at most ${max} devices of one user in a room`;
  throw new Failure('quota_exceeded', { message });
}
