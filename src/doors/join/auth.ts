/** The doorkeeper of `/join`. */
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
 * Runs before a byte of the body is read: a stranger is told 401, whoever may publish nothing 403,
 * and whoever comes too often 429. So a malformed join counts as any other.
 */
export async function requireDevice(deps: Deps, request: FastifyRequest): Promise<void> {
  request.device = await authenticateDevice(deps, authorizationOf(request), request.ip);
  request.keyId = request.device.credentialId;
  await deps.joinLimit.count(request.device.credentialId);
}

/** Who is joining, once that is known. */
export function deviceOf(request: FastifyRequest): Device {
  if (!request.device) throw new Failure('invalid_api_key');
  return request.device;
}
