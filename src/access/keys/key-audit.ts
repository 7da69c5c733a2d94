/** Entries of the audit trail about API keys. None holds a secret or its hash. */
import { changedFields, type NewAuditEntry } from '../../base/audit/audit-entry.ts';
import type { KeyCeiling } from '../rights/key-ceiling.ts';
import type { ApiKey } from './api-key.ts';

export function createdEntry({ id, name, kind }: ApiKey): NewAuditEntry {
  return { action: 'key_created', subject: id, before: null, after: { name, kind } };
}

/** About the replaced key. */
export function rotatedEntry(oldId: string, newId: string, oldRetiresAt: Date): NewAuditEntry {
  return {
    action: 'key_rotated',
    subject: oldId,
    before: { replaced_by: null, retires_at: null },
    after: { replaced_by: newId, retires_at: oldRetiresAt },
  };
}

export function revokedEntry({ id, revokedAt }: ApiKey): NewAuditEntry {
  return {
    action: 'key_revoked',
    subject: id,
    before: { revoked_at: null },
    after: { revoked_at: revokedAt },
  };
}

/** `undefined` if the ceiling stays as it is. */
export function ceilingEntry(id: string, before: KeyCeiling, after: KeyCeiling): NewAuditEntry | undefined {
  const changed = changedFields(fieldsOf(before), fieldsOf(after));
  return changed && { action: 'key_ceiling_changed', subject: id, ...changed };
}

function fieldsOf({ capabilities, roles, rooms, rank, lifetimeSeconds }: KeyCeiling) {
  return { capabilities, roles, rooms, rank, lifetime_seconds: lifetimeSeconds };
}
