/**
 * Mint a token for a participant, as the tenant's back end asks for it.
 *
 * Source: specification 5.5 and 7.3. The checks come in a fixed order; credit is the last of them.
 */

import type { AuthenticatedCaller } from '../../access/keys/authenticate.ts';
import { capabilitiesOfRole } from '../../access/rights/capabilities.ts';
import { refuseBeyondCeiling } from '../../access/rights/key-ceiling.ts';
import { TOKEN_SECONDS_DEFAULT } from '../../access/rights/token-lifetime.ts';
import { Failure, notFound } from '../../base/failure.ts';
import { admits } from '../../base/tenants/tenant.ts';
import type { Deps } from '../../doors/deps.ts';
import type { Role } from '../../money/pricing/role.ts';
import type { RoomPolicy } from '../rooms/room.ts';
import { type EntryState, findEntryState } from '../rooms/rooms.sql.ts';
import { type Admitted, admit, type Entry, refuseNewcomer } from './admit.ts';

/** What was asked for, already of the right form. */
export interface MintRequest {
  readonly room: string;
  /** Prepared: the name that will be minted. */
  readonly username: string;
  readonly thumbprint: string;
  readonly role: Role;
  /** Empty: what the room's policy gives to the role. */
  readonly capabilities: readonly string[];
  /** `undefined`: that of the role. */
  readonly rank: number | undefined;
  /** `undefined`: ten minutes, or less where the key's ceiling is lower. */
  readonly lifetimeSeconds: number | undefined;
  readonly ageVerified: boolean;
  readonly address: string | undefined;
}

const ROLE_RANKS: Readonly<Record<Role, number>> = { host: 80, audience: 20, broadcast_audience: 10 };

/**
 * Fails with `not_found`, `ceiling_exceeded`, `banned`, `tenant_not_active`, `room_ended`,
 * `age_verification_required`, `room_locked`, `room_full`, `payment_required`, `credit_spent` and
 * `username_confusable`.
 */
export function mintClientToken(
  deps: Deps,
  caller: AuthenticatedCaller,
  request: MintRequest,
): Promise<Admitted> {
  return admit(deps, () => checkMint(deps, caller, request));
}

async function checkMint(deps: Deps, caller: AuthenticatedCaller, request: MintRequest): Promise<Entry> {
  const { tenant, ceiling } = caller;
  const { room, username, thumbprint: device, role } = request;
  const state = await findEntryState(deps.db, { tenant, room, username, device, address: request.address });
  const { roomUid, policy } = state;
  if (roomUid === null || policy === null) throw notFound('room');

  const grant = {
    role,
    rank: request.rank ?? ROLE_RANKS[role],
    capabilities: capabilitiesOf(request, policy),
    lifetimeSeconds: request.lifetimeSeconds ?? Math.min(TOKEN_SECONDS_DEFAULT, ceiling.lifetimeSeconds),
  };
  refuseBeyondCeiling(ceiling, grant, [room]);
  if (state.isBanned) throw new Failure('banned');
  if (state.status !== 'active' && state.status !== 'pending') throw new Failure('tenant_not_active');
  if (state.roomState !== 'LIVE') throw new Failure('room_ended');
  if (policy.ageVerificationRequired && !request.ageVerified) throw new Failure('age_verification_required');
  refuseNewcomer(policy, state.isPresent);
  return {
    ...grant,
    tenant,
    room,
    roomUid,
    policy,
    isPresent: state.isPresent,
    username,
    device,
    mayLower: true,
    keyId: caller.keyId,
    lastCheck: () => refuseWithoutCredit(state),
  };
}

function refuseWithoutCredit(state: EntryState): void {
  if (state.status === 'pending') throw new Failure('payment_required');
  if (!admits(state, state.balance)) throw new Failure('credit_spent');
}

/** Sorted, and each once. */
function capabilitiesOf({ capabilities, role }: MintRequest, policy: RoomPolicy): readonly string[] {
  return [...new Set(capabilities.length > 0 ? capabilities : capabilitiesOfRole(role, policy))].sort();
}
