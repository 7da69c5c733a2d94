/** Entries of the audit trail about device credentials. None holds a secret or its hash. */
import type { NewAuditEntry } from '../../base/audit/audit-entry.ts';
import type { DeviceCredential } from './device-credential.ts';

export function createdEntry(credential: DeviceCredential): NewAuditEntry {
  const { id, name, publish, rooms, defaultRoom, expiresAt } = credential;
  return {
    action: 'device_credential_created',
    subject: id,
    before: null,
    after: { name, publish, rooms, default_room: defaultRoom, expires_at: expiresAt },
  };
}

/** About the replaced credential. */
export function rotatedEntry(oldId: string, newId: string, oldRetiresAt: Date): NewAuditEntry {
  return {
    action: 'device_credential_rotated',
    subject: oldId,
    before: { replaced_by: null, retires_at: null },
    after: { replaced_by: newId, retires_at: oldRetiresAt },
  };
}

export function revokedEntry({ id, revokedAt }: DeviceCredential): NewAuditEntry {
  return {
    action: 'device_credential_revoked',
    subject: id,
    before: { revoked_at: null },
    after: { revoked_at: revokedAt },
  };
}
