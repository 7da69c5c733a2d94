/** The events of device credentials. None holds a secret or its hash. */
import type { NewEvent } from '../../events/event.ts';
import type { DeviceCredential } from './device-credential.ts';

export const DEVICE_CREDENTIAL_EVENTS = {
  device_credential_created: 'A device credential was created.',
  device_credential_rotated: 'A device credential was replaced.',
  device_credential_revoked: 'A device credential was revoked.',
} as const;

/**
 * The subject of `device_credential_created`, `device_credential_rotated` and `device_credential_revoked`.
 */
export interface DeviceCredentialChange {
  /** For a rotation, the new credential. */
  readonly credential: DeviceCredential;
  /** For a rotation: the id of the old credential, and when it stops working. */
  readonly replacedId: string | null;
  readonly replacedRetiresAt: Date | null;
}

export function deviceCredentialCreated(credential: DeviceCredential): NewEvent {
  return event('device_credential_created', { credential, replacedId: null, replacedRetiresAt: null });
}

export function deviceCredentialRotated(
  credential: DeviceCredential,
  replacedId: string,
  replacedRetiresAt: Date,
): NewEvent {
  return event('device_credential_rotated', { credential, replacedId, replacedRetiresAt });
}

export function deviceCredentialRevoked(credential: DeviceCredential): NewEvent {
  const subject = { credential, replacedId: null, replacedRetiresAt: null };
  return { ...event('device_credential_revoked', subject), revokes: true };
}

function event(type: keyof typeof DEVICE_CREDENTIAL_EVENTS, subject: DeviceCredentialChange): NewEvent {
  return { type, roomUid: null, subject };
}
