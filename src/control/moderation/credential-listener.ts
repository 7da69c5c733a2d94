/** Removes the devices of a revoked device credential from rooms. `reapplyNewRevocations()` removes those that enter meanwhile. */
import type { DeviceCredentialChange } from '../../access/devices/device-credential-events.ts';
import type { Listener } from '../../events/listener.ts';
import { removeKeys } from './remove-keys.ts';

export const credentialListener: Listener = {
  name: 'credentials',
  types: ['device_credential_revoked'],
  handle: (tx, tenant, events) =>
    removeKeys(
      tx,
      tenant,
      events.map(({ subject }) => (subject as DeviceCredentialChange).credential.id),
    ),
};
