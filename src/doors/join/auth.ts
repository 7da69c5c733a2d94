/** Authentication of `/join`. */
import type { FastifyRequest } from 'fastify';
import { type AuthenticatedJoin, authenticateJoin } from '../../control/admission/authenticate-join.ts';
import { refuseTooManyJoins } from '../../control/admission/join-limit.ts';
import type { JoinRequest } from '../../control/admission/join-room.ts';
import type { Deps } from '../deps.ts';
import { authorizationOf } from '../http/http.ts';
import { isSoonWhole } from '../http/late-body.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The device is authenticated and counted once the body is read, because that has arrived. */
    isWhole: boolean;
  }
}

/**
 * Authenticates before the body is read: 401 for an unknown credential, 403 for one that may publish nothing, 429 for one
 * with too many joins. A malformed join therefore counts as any other.
 *
 * A body that arrives with the headers is read first, so that one statement finds the credential and what decides
 * about the user. `firstFault()` sees to it that a client cannot tell.
 */
export async function requireDevice(deps: Deps, request: FastifyRequest): Promise<void> {
  request.isWhole = await isSoonWhole(request);
  if (!request.isWhole) await authenticate(deps, request, { isCounted: true });
}

/** With whom the body says. A device whose body arrived late is looked up again: it may have been revoked meanwhile. */
export async function arrive(
  deps: Deps,
  request: FastifyRequest,
  joining: JoinRequest,
): Promise<Pick<AuthenticatedJoin, 'device' | 'state'>> {
  return authenticate(deps, request, { isCounted: request.isWhole, joining });
}

/** What is reported of a request that failed: why its device is refused comes before what is wrong with its body. */
export async function firstFault(deps: Deps, request: FastifyRequest, error: unknown): Promise<unknown> {
  if (!request.isWhole) return error;
  try {
    await authenticate(deps, request, { isCounted: true });
  } catch (refused) {
    return refused;
  }
  return error;
}

async function authenticate(
  deps: Deps,
  request: FastifyRequest,
  how: { readonly isCounted: boolean; readonly joining?: JoinRequest },
): Promise<AuthenticatedJoin> {
  request.isWhole = false;
  const authenticated = await authenticateJoin(deps, authorizationOf(request), request.ip, how);
  request.keyId = authenticated.device.credentialId;
  if (authenticated.joins) refuseTooManyJoins(authenticated.joins);
  return authenticated;
}
