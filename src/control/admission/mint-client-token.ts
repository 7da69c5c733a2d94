/**
 * Mint a participant token for the tenant's back end.
 *
 * Source: specification 5.5 and 7.3. The checks run in a fixed order, credit last.
 */

import type { AuthenticatedCaller } from '../../access/keys/authenticate.ts';
import { capabilitiesOfRole } from '../../access/rights/capabilities.ts';
import { refuseBeyondCeiling } from '../../access/rights/key-ceiling.ts';
import { TOKEN_SECONDS_DEFAULT } from '../../access/rights/token-lifetime.ts';
import { Failure, notFound } from '../../base/failure.ts';
import type { Role } from '../../money/pricing/role.ts';
import type { RoomPolicy } from '../rooms/room.ts';
import { type AdmissionDeps, type Admitted, admit, type Entry } from './admit.ts';
import {
  refuseBanned,
  refuseInactive,
  refuseNewcomer,
  refuseUnverifiedAge,
  refuseWithoutCredit,
} from './refuse-entry.ts';

/** The request, already validated. */
export interface MintRequest {
  readonly room: string;
  /** Prepared, as it will appear in the token. */
  readonly username: string;
  readonly thumbprint: string;
  readonly role: Role;
  /** Empty: what the room's policy gives to the role. */
  readonly capabilities: readonly string[];
  /** `undefined`: the default of the role. */
  readonly rank: number | undefined;
  /** `undefined`: ten minutes, or less if the key's ceiling is lower. */
  readonly lifetimeSeconds: number | undefined;
  readonly ageVerified: boolean;
  readonly address: string | undefined;
  /** A label of the tenant's own customer, for budgets; `null`: none. */
  readonly customer: string | null;
}

const ROLE_RANKS: Readonly<Record<Role, number>> = { host: 80, audience: 20, broadcast_audience: 10 };

/**
 * Fails with `not_found`, `ceiling_exceeded`, `banned`, `tenant_not_active`, `room_ended`,
 * `age_verification_required`, `room_locked`, `room_full`, `payment_required`, `credit_spent`,
 * `quota_exceeded`, `budget_reached` and `username_confusable`.
 */
export function mintClientToken(
  deps: AdmissionDeps,
  caller: AuthenticatedCaller,
  request: MintRequest,
): Promise<Admitted> {
  return admit(deps, caller, () => checkMint(deps, caller, request));
}

async function checkMint(
  deps: AdmissionDeps,
  caller: AuthenticatedCaller,
  request: MintRequest,
): Promise<Entry> {
  const { tenant, ceiling } = caller;
  const { room, username, thumbprint, role } = request;
  const entrant = { tenant, room, username, thumbprint, address: request.address };
  const state = await deps.admissions.findState(entrant, caller.tenantStatus !== 'pending');
  const { roomUid, policy } = state;
  if (roomUid === null || policy === null) throw notFound('room');

  const grant = {
    role,
    rank: request.rank ?? ROLE_RANKS[role],
    capabilities: capabilitiesOf(request, policy),
    lifetimeSeconds: request.lifetimeSeconds ?? Math.min(TOKEN_SECONDS_DEFAULT, ceiling.lifetimeSeconds),
  };
  refuseBeyondCeiling(ceiling, grant, [room]);
  refuseBanned(state);
  refuseInactive(state);
  if (state.roomState !== 'LIVE') throw new Failure('room_ended');
  refuseUnverifiedAge(policy, request.ageVerified);
  refuseNewcomer(policy, state.isPresent);
  return {
    ...grant,
    tenant,
    room,
    roomUid,
    policy,
    isPresent: state.isPresent,
    isNew: state.isNew,
    isAdmitted: state.isAdmitted,
    devices: state.devices,
    rangeSalt: state.rangeSalt,
    hasBudgets: state.hasBudgets,
    username,
    thumbprint,
    mayLower: true,
    keyId: caller.keyId,
    customer: request.customer,
    lastCheck: () => refuseWithoutCredit(state),
  };
}

/** Sorted, without duplicates. */
function capabilitiesOf({ capabilities, role }: MintRequest, policy: RoomPolicy): readonly string[] {
  return [...new Set(capabilities.length > 0 ? capabilities : capabilitiesOfRole(role, policy))].sort();
}
