/**
 * Let a device into a room: an admission, and a token that is bound to the device's key.
 *
 * Source: specification 4.11. The checks come in a fixed order, and the first that fails is told.
 */
import { inTransaction } from '../db/transaction.ts';
import type { Deps } from '../deps.ts';
import type { Device } from '../devices/device-credential.ts';
import { Failure, invalidRequest } from '../failure.ts';
import { admits, renderTenantId, type TenantId } from '../tenants/tenant.ts';
import { mintToken } from '../tokens/mint-token.ts';
import { joinCapabilities, TOKEN_SECONDS_DEFAULT } from '../tokens/participant-token.ts';
import { skeleton } from '../usernames/skeleton.ts';
import { type Admission, hasLookalike, type NewAdmission, upsertAdmission } from './admissions.sql.ts';
import { mayJoinRoom, ROOM_DEFAULT } from './room.ts';
import { findJoinState, type JoinState, lockRoom, openFirstRoom } from './rooms.sql.ts';

/** What was asked for, already of the right form. */
export interface JoinRequest {
  /** As on the wire; `undefined`: the tenant of the credential. */
  readonly tenant: string | undefined;
  readonly room: string | undefined;
  /** Prepared: the name that will be minted. */
  readonly username: string;
  readonly thumbprint: string;
}

export interface Joined {
  readonly token: string;
  /** Of the token, for the log. */
  readonly jti: string;
  readonly kid: string;
  readonly room: string;
  readonly expiresAt: Date;
}

/** The rank of an ordinary participant: it may act on nobody. */
const RANK_AUDIENCE = 20;

/**
 * Fails with `permission_denied`, `tenant_not_active`, `payment_required`, `credit_spent`,
 * `not_found`, `room_ended`, and, for a name that looks like that of somebody present, `invalid_request`.
 */
export async function joinRoom(deps: Deps, device: Device, request: JoinRequest): Promise<Joined> {
  if (request.tenant !== undefined && request.tenant !== renderTenantId(device.tenant)) {
    throw denied('this credential is of another tenant');
  }
  const room = request.room ?? device.defaultRoom ?? ROOM_DEFAULT;
  if (!mayJoinRoom(device.rooms, room)) throw denied('this credential is not for this room');

  const state = await findJoinState(deps.db, device.tenant, room);
  refuseInactive(state);
  refuseWithoutCredit(state);
  const roomUid = await getRoom(deps, device.tenant, room, state);
  const { issuedAt, kid } = await admit(deps, {
    tenant: device.tenant,
    roomUid,
    username: request.username,
    device: request.thumbprint,
    skeleton: skeleton(request.username),
    keyId: device.credentialId,
    lifetimeSeconds: TOKEN_SECONDS_DEFAULT,
  });
  const minted = await mintToken(deps, kid, {
    issuedAt,
    lifetimeSeconds: TOKEN_SECONDS_DEFAULT,
    tenant: device.tenant,
    username: request.username,
    thumbprint: request.thumbprint,
    room,
    roomUid,
    role: 'audience',
    rank: RANK_AUDIENCE,
    capabilities: joinCapabilities(device.publish),
    keyId: device.credentialId,
  });
  return { ...minted, room };
}

function denied(why: string): Failure {
  return new Failure('permission_denied', { message: `permission denied: ${why}` });
}

/** A tenant that never paid is pending, which is told as a lack of credit. */
function refuseInactive({ status }: JoinState): void {
  if (status !== 'active' && status !== 'pending') throw new Failure('tenant_not_active');
}

function refuseWithoutCredit(state: JoinState): void {
  if (state.status === 'pending') throw new Failure('payment_required');
  if (!admits(state, state.balance)) throw new Failure('credit_spent');
}

/** The uid of the live room, opened if this deployment opens rooms for whoever comes first. */
async function getRoom(deps: Deps, tenant: TenantId, name: string, state: JoinState): Promise<string> {
  if (state.roomUid === null) {
    if (!deps.config.joinCreatesRooms) throw new Failure('not_found');
    const opened = await openFirstRoom(deps.db, tenant, name);
    if (opened === undefined) throw new Failure('room_ended');
    return opened;
  }
  if (state.roomState !== 'LIVE') throw new Failure('room_ended');
  return state.roomUid;
}

async function admit(deps: Deps, admission: NewAdmission): Promise<Admission> {
  if (deps.config.confusableUsernames === 'allow') return upsertAdmission(deps.db, admission);
  // Two names that look alike may come at the same moment: one after the other, then.
  return inTransaction(deps.db, async (tx) => {
    await lockRoom(tx, admission.tenant, admission.roomUid);
    if (await hasLookalike(tx, admission)) {
      throw invalidRequest('username looks like that of somebody who is in the room');
    }
    return upsertAdmission(tx, admission);
  });
}
