/** A stored record beside a later report of its id. */
import { ROLE_CODES, TIER_CODES } from '../pricing/role-codes.ts';
import { ERASED, type UsageRecord } from './usage-record.ts';

/** The stored fields of a record in which a later report of its id can differ. */
export interface StoredRecord {
  readonly id: string;
  readonly role: string;
  readonly tier: string;
  readonly seconds: number;
  readonly egressBytes: bigint;
  readonly ingressBytes: bigint;
  readonly room: string | null;
  readonly participant: string | null;
}

/** Whether a report equals the stored record in every field, except for the name of a person who was erased. */
export function repeats(stored: StoredRecord, record: UsageRecord): boolean {
  return (
    stored.egressBytes === record.egressBytes &&
    stored.ingressBytes === record.ingressBytes &&
    stored.seconds === record.seconds &&
    stored.role === ROLE_CODES[record.role] &&
    stored.tier === TIER_CODES[record.tier] &&
    (stored.room ?? undefined) === record.room &&
    (stored.participant === ERASED || (stored.participant ?? undefined) === record.participant)
  );
}

/** A record as it would be stored, for comparing reports of the same id inside one batch. */
export function stored(record: UsageRecord): StoredRecord {
  return {
    ...record,
    role: ROLE_CODES[record.role],
    tier: TIER_CODES[record.tier],
    room: record.room ?? null,
    participant: record.participant ?? null,
  };
}

/** A conflicting report as it is kept: it does not bring back a name that was erased from the stored record. */
export function withoutErased(stored: StoredRecord, record: UsageRecord): UsageRecord {
  return stored.participant === ERASED ? { ...record, participant: ERASED } : record;
}
