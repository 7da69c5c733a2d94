/** An id that was reported again with other values. Only the first report was charged. */
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { ChargedRecord } from '../records/charged-record.ts';

/** What a relay reported: the fields of a usage record without the id. Absent ones are null. */
export interface Report {
  readonly room: string | null;
  readonly participant: string | null;
  readonly role: string | null;
  readonly tier: string | null;
  readonly seconds: number | null;
  readonly egress_bytes: number | null;
  readonly ingress_bytes: number | null;
}

/** A charged record as it was reported. */
export function reportOf(record: ChargedRecord | undefined): Report {
  return {
    role: record?.role ?? null,
    room: record?.room ?? null,
    tier: record?.tier ?? null,
    seconds: record?.seconds ?? null,
    participant: record?.participant ?? null,
    egress_bytes: record ? Number(record.egressBytes) : null,
    ingress_bytes: record ? Number(record.ingressBytes) : null,
  };
}

export interface Conflict {
  readonly id: string;
  readonly times: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  /** What was charged. */
  readonly accepted: Report;
  /** The latest conflicting report. */
  readonly reported: Partial<Report>;
}

/** Before the conflicts of the next page. */
export interface ConflictPlace {
  /** With microseconds. */
  readonly lastAt: string;
  readonly id: string;
}

/** A tenant whose relays reported ids again with other values. */
export interface ConflictLine {
  readonly tenant: TenantId;
  readonly ids: bigint;
  readonly times: bigint;
  readonly lastAt: Date;
}

/** The fields whose values differ, as they were charged and as they were reported. */
export function differencesOf({ accepted, reported }: Conflict) {
  return (Object.keys(accepted) as (keyof Report)[])
    .filter((name) => accepted[name] !== (reported[name] ?? null))
    .map((name) => ({ name, charged: accepted[name] ?? 'none', reported: reported[name] ?? 'none' }));
}
