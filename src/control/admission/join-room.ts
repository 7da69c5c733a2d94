/**
 * Admit a device to a room by its own credential.
 *
 * Source: specification 4.11. The checks run in a fixed order, and the first failure is reported.
 */

import type { Device } from '../../access/devices/device-credential.ts';
import { joinGrant } from '../../access/rights/join-grant.ts';
import { mayJoinRoom } from '../../access/rights/room-names.ts';
import type { Pool } from '../../base/db/pool.ts';
import { inTransaction, repeatOnConflict } from '../../base/db/transaction.ts';
import { Failure } from '../../base/failure.ts';
import { type LimitHolder, takePlace } from '../../base/tenants/places.sql.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import { DEFAULT_POLICY, ROOM_DEFAULT, ROOMS_LIMIT, type RoomPolicy } from '../rooms/room.ts';
import { countLiveRooms } from '../rooms/rooms.sql.ts';
import { type AdmissionDeps, type Admitted, admit, type Entry } from './admit.ts';
import type { EntryState } from './entry-state.sql.ts';
import { openFirstRoom, openFirstRoomInPlace } from './open-first-room.sql.ts';
import {
  refuseBanned,
  refuseHigherName,
  refuseInactive,
  refuseNewcomer,
  refuseUnverifiedAge,
  refuseWithoutCredit,
} from './refuse-entry.ts';

/** The request, already validated. */
export interface JoinRequest {
  /** As on the wire; `undefined`: the tenant of the credential. */
  readonly tenant: string | undefined;
  readonly room: string | undefined;
  /** Prepared, as it will appear in the token. */
  readonly username: string;
  readonly thumbprint: string;
  /** Where the device calls from. */
  readonly address: string | undefined;
}

export interface JoinDeps extends AdmissionDeps {
  readonly config: AdmissionDeps['config'] & { readonly joinCreatesRooms: boolean };
}

export interface Joined extends Admitted {
  readonly room: string;
}

/**
 * Fails with `permission_denied`, `banned`, `tenant_not_active`, `payment_required`, `credit_spent`,
 * `not_found`, `quota_exceeded`, `room_ended`, `age_verification_required`, `room_locked`, `username_taken`,
 * `room_full`, `budget_reached` and, for a name that looks like that of a present user, `username_confusable`.
 *
 * `state`, if it was just looked up with the credential, saves looking for it.
 */
export async function joinRoom(
  deps: JoinDeps,
  device: Device,
  request: JoinRequest,
  state?: EntryState,
): Promise<Joined> {
  const { tenant } = device;
  if (request.tenant !== undefined && request.tenant !== renderTenantId(tenant)) {
    throw denied('this credential is of another tenant');
  }
  const room = request.room ?? device.defaultRoom ?? ROOM_DEFAULT;
  if (!mayJoinRoom(device.rooms, room)) throw denied('this credential is not for this room');

  let lookedUp = state;
  const admitted = await admit(deps, device, () => {
    const known = lookedUp;
    // A second check is there because something changed.
    lookedUp = undefined;
    return checkJoin(deps, device, { ...request, room }, known);
  });
  return { ...admitted, room };
}

async function checkJoin(
  deps: JoinDeps,
  device: Device,
  { room, username, thumbprint, address }: JoinRequest & { readonly room: string },
  known: EntryState | undefined,
): Promise<Entry> {
  const { tenant } = device;
  const entrant = { tenant, room, username, thumbprint, address };
  const state = known ?? (await deps.admissions.findState(entrant, device.tenantStatus !== 'pending'));
  refuseBanned(state);
  refuseInactive(state);
  refuseWithoutCredit(state);
  const live = await getRoom(deps, device, room, state);
  // A device joins without a back end that could vouch for the user's age.
  refuseUnverifiedAge(live.policy, false);
  // Only an admitted device counts as inside, because any device can claim a username.
  refuseNewcomer(live.policy, state.isAdmitted);
  const grant = joinGrant(device.publish, live.policy);
  refuseHigherName(state, grant);
  return {
    ...live,
    tenant,
    room,
    username,
    thumbprint,
    isPresent: state.isPresent,
    isNew: state.isNew,
    isAdmitted: state.isAdmitted,
    devices: state.devices,
    rangeSalt: state.rangeSalt,
    hasBudgets: state.hasBudgets,
    ...grant,
    mayLower: false,
    keyId: device.credentialId,
    customer: null,
    lastCheck: () => {},
  };
}

function denied(why: string): Failure {
  return new Failure('permission_denied', { message: `permission denied: ${why}` });
}

/** The live room. Deployments that let joins create rooms open it here. */
async function getRoom(
  deps: JoinDeps,
  device: Device,
  name: string,
  state: EntryState,
): Promise<{ roomUid: string; policy: RoomPolicy }> {
  if (state.roomUid === null) {
    if (!deps.config.joinCreatesRooms) throw new Failure('not_found');
    const opened = deps.calls.run(device, () => openRoom(deps, { ...state, id: device.tenant }, name));
    return { roomUid: await opened, policy: DEFAULT_POLICY };
  }
  if (state.roomState !== 'LIVE') throw new Failure('room_ended');
  return { roomUid: state.roomUid, policy: state.policy! };
}

/** Returns the uid of the room, which another join may have opened meanwhile. */
async function openRoom({ db }: JoinDeps, holder: LimitHolder, name: string): Promise<string> {
  const uid = await repeatOnConflict(() => openFirstRoomInPlace(db, holder, name));
  return uid ?? openRoomOrCount(db, holder, name);
}

function openRoomOrCount(db: Pool, holder: LimitHolder, name: string): Promise<string> {
  return inTransaction(db, async (tx) => {
    const opened = await openFirstRoom(tx, holder.id, name);
    if (opened === undefined) throw new Failure('room_ended');
    if (opened.isNew) await takePlace(tx, holder, ROOMS_LIMIT, (most) => countLiveRooms(tx, holder.id, most));
    return opened.uid;
  });
}
