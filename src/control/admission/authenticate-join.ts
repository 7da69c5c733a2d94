/** Authenticate a device that wants to join, and count its join. Source: specification 4.11. */
import { authenticateDevice } from '../../access/devices/authenticate-device.ts';
import type { Device } from '../../access/devices/device-credential.ts';
import { hashKey } from '../../access/keys/api-key.ts';
import type { KeyDeps } from '../../access/keys/authenticate.ts';
import type { Window } from '../../base/limits/rate-limits.sql.ts';
import type { EntryState } from './entry-state.sql.ts';
import type { GatheredAdmissions } from './gathered-admissions.ts';
import type { Joining } from './join-lookups.sql.ts';

export interface AuthenticatedJoin {
  readonly device: Device;
  /** The joins of its minute, with this one: `refuseTooManyJoins()` says whether it may join. `undefined`: not counted now. */
  readonly joins: Window | undefined;
  /** What decides about the user, if it was looked up with the credential. */
  readonly state: EntryState | undefined;
}

/** `joining`: who wants to join, if that is known. `isCounted`: for the first time of the request. Fails as `authenticateDevice()`. */
export async function authenticateJoin(
  deps: KeyDeps & { readonly admissions: GatheredAdmissions },
  authorization: string | undefined,
  address: string,
  { isCounted, joining }: { readonly isCounted: boolean; readonly joining?: Joining | undefined },
): Promise<AuthenticatedJoin> {
  const { joins, state, ...device } = await authenticateDevice(
    deps,
    authorization,
    address,
    ({ id, plaintext }) => deps.admissions.lookUp({ id, hash: hashKey(plaintext), isCounted, joining }),
  );
  return { device, joins, state };
}
