/** Authentication of `/join`. */
import { setImmediate as turn } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import type { Device } from '../../access/devices/device-credential.ts';
import { type AuthenticatedJoin, authenticateJoin } from '../../control/admission/authenticate-join.ts';
import { refuseTooManyJoins } from '../../control/admission/join-limit.ts';
import type { JoinRequest } from '../../control/admission/join-room.ts';
import type { Deps } from '../deps.ts';
import { authorizationOf } from '../http/http.ts';

declare module 'fastify' {
  interface FastifyRequest {
    device: Device | undefined;
    /** The body has arrived, and is read before the device is authenticated. */
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
  // By the next turn of the event loop, the parser has read what had arrived, and most clients have sent the rest.
  await turn();
  request.isWhole = request.raw.complete;
  if (!request.isWhole) await authenticate(deps, request);
}

/** With whom the body says, if the device is not authenticated yet. */
export async function arrive(
  deps: Deps,
  request: FastifyRequest,
  joining: JoinRequest,
): Promise<Pick<AuthenticatedJoin, 'device' | 'state'>> {
  const { device } = request;
  return device ? { device, state: undefined } : authenticate(deps, request, joining);
}

/** What is reported of a request that failed: why its device is refused comes before what is wrong with its body. */
export async function firstFault(deps: Deps, request: FastifyRequest, error: unknown): Promise<unknown> {
  if (!request.isWhole) return error;
  try {
    await authenticate(deps, request);
  } catch (refused) {
    return refused;
  }
  return error;
}

async function authenticate(
  deps: Deps,
  request: FastifyRequest,
  joining?: JoinRequest,
): Promise<AuthenticatedJoin> {
  request.isWhole = false;
  const authenticated = await authenticateJoin(deps, authorizationOf(request), request.ip, joining);
  request.device = authenticated.device;
  request.keyId = authenticated.device.credentialId;
  refuseTooManyJoins(authenticated.joins);
  return authenticated;
}
