/** Authentication of `/join`. */
import type { FastifyRequest } from 'fastify';
import { authenticateDevice } from '../../access/devices/authenticate-device.ts';
import type { Device } from '../../access/devices/device-credential.ts';
import { Failure } from '../../base/failure.ts';
import type { Deps } from '../deps.ts';
import { authorizationOf } from '../http/http.ts';

declare module 'fastify' {
  interface FastifyRequest {
    device: Device | undefined;
  }
}

/**
 * Runs before the body is read: 401 for an unknown credential, 403 for one that may publish
 * nothing, 429 for one with too many joins. A malformed join therefore counts as any other.
 */
export async function requireDevice(deps: Deps, request: FastifyRequest): Promise<void> {
  request.device = await authenticateDevice(deps, authorizationOf(request), request.ip);
  request.keyId = request.device.credentialId;
  await deps.joinLimit.count(request.device.credentialId);
}

/** The authenticated credential. */
export function deviceOf(request: FastifyRequest): Device {
  if (!request.device) throw new Failure('invalid_api_key');
  return request.device;
}
