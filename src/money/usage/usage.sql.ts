/** SQL of `usage_records` and `usage_conflicts`. */
import { isDistributed } from '../../base/db/distribution.ts';
import type { Statement } from '../../base/db/pipeline.ts';
import type { Tx } from '../../base/db/pool.ts';
import { violatesUnique } from '../../base/db/transaction.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { ROLE_CODES, TIER_CODES } from '../pricing/role-codes.ts';
import { type Buffers, COPIED_COLUMNS, copyRows, type PostedRecords } from './copy-rows.ts';
import { ERASED, type UsageRecord } from './usage-record.ts';

/** Record ids with their tenants. */
export type TenantIds = readonly { readonly tenant: TenantId; readonly id: string }[];

/**
 * For the rest of this transaction, no statement is planned so that it reads a whole table. Each is planned once
 * a connection (`base/db/pool.ts`), and a table that was small then may have a million rows a minute later.
 */
export const SEQSCAN_OFF: Statement = {
  name: 'seqscan-off',
  text: `select set_config('enable_seqscan', 'off', true)`,
};

/** The same for a transaction of several tenants, which no lock of one of them may hold up. */
export const SHARED_SETTINGS: Statement = {
  name: 'shared-settings',
  text: `select set_config('enable_seqscan', 'off', true), set_config('lock_timeout', '40', true)`,
};

/**
 * The tenants of those ids that were accepted before. `offset 0` forces one look-up per id. Where tables are
 * distributed, the ids are those of one tenant.
 */
export function findTenantsOfKnown(ids: TenantIds): Statement<{ readonly tenant: TenantId }> {
  if (isDistributed()) {
    return {
      name: 'find-tenant-of-known',
      text: 'select tenant_id as tenant from usage_records where tenant_id = $1 and id = any($2) limit 1',
      values: [ids[0]!.tenant, ids.map(({ id }) => id)],
    };
  }
  return {
    name: 'find-tenants-of-known',
    text: `select asked.tenant_id as tenant
             from unnest($1::bigint[], $2::text[]) as asked (tenant_id, id),
                  lateral (select from usage_records r
                            where r.tenant_id = asked.tenant_id and r.id = asked.id offset 0) as known`,
    values: columns(ids),
  };
}

function columns(ids: TenantIds): [TenantId[], string[]] {
  return [ids.map(({ tenant }) => tenant), ids.map(({ id }) => id)];
}

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

/**
 * The ids that were accepted before, by tenant. Reliable only while the accounts are locked.
 *
 * One look-up per tenant: PostgreSQL then always uses the index. For a join of many ids, it would read
 * a small table as a whole.
 */
export async function findKnown(tx: Tx, ids: TenantIds): Promise<Map<TenantId, Map<string, StoredRecord>>> {
  const known = new Map<TenantId, Map<string, StoredRecord>>();
  for (const [tenant, ofTenant] of Map.groupBy(ids, (each) => each.tenant)) {
    const { rows } = await tx.query<StoredRecord>({
      name: 'find-known',
      text: `select id, role, tier, seconds, egress_bytes as "egressBytes", ingress_bytes as "ingressBytes",
                    room, participant
               from usage_records where tenant_id = $1 and id = any($2)`,
      values: [tenant, ofTenant.map(({ id }) => id)],
    });
    known.set(tenant, new Map(rows.map((row) => [row.id, row])));
  }
  return known;
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

/** An id that was assumed to be new was accepted before. */
export class KnownIdError extends Error {
  override readonly name = 'KnownIdError';
}

/**
 * Store the records of postings by COPY, PostgreSQL's fastest import. `buffers` may be given back once it is done.
 *
 * One known id fails the whole COPY with `KnownIdError`.
 */
export function copyRecords(postings: readonly PostedRecords[], buffers: Buffers): Statement {
  return {
    name: 'copy usage_records',
    text: `copy usage_records (${COPIED_COLUMNS}) from stdin (format binary)`,
    copyData: copyRows(postings, buffers),
    // The table has no other unique key. If it is partitioned, PostgreSQL names the key of the partition.
    explain: (error) =>
      isKnownId(error) ? new KnownIdError('an id was accepted before', { cause: error }) : error,
  };
}

/** A worker's refusal of a COPY comes through the coordinator without its code. */
function isKnownId(error: unknown): boolean {
  if (violatesUnique(error)) return true;
  const { detail } = error as { readonly detail?: string };
  return isDistributed() && /^Key \(tenant_id, id\)=.* already exists/.test(detail ?? '');
}

/** Store reports that repeat an accepted id with different values: their count and the newest values. */
export async function recordConflicts(
  tx: Tx,
  conflicts: readonly { readonly tenant: TenantId; readonly record: UsageRecord }[],
): Promise<void> {
  if (conflicts.length === 0) return;
  const reported = new Map<string, { tenant: TenantId; id: string; times: number; values: string }>();
  for (const { tenant, record } of conflicts) {
    const key = `${tenant} ${record.id}`;
    const times = (reported.get(key)?.times ?? 0) + 1;
    reported.set(key, { tenant, id: record.id, times, values: renderReported(record) });
  }
  const rows = [...reported.values()];
  await tx.query(
    `insert into usage_conflicts (tenant_id, id, times, reported)
     select * from unnest($1::bigint[], $2::text[], $3::integer[], $4::jsonb[])
     on conflict (tenant_id, id) do update
        set times = usage_conflicts.times + excluded.times, last_at = excluded.last_at, reported = excluded.reported`,
    [
      rows.map((row) => row.tenant),
      rows.map((row) => row.id),
      rows.map((row) => row.times),
      rows.map((row) => row.values),
    ],
  );
}

/** The report as the relay sent it, without its id. */
function renderReported({
  role,
  tier,
  seconds,
  egressBytes,
  ingressBytes,
  room,
  participant,
}: UsageRecord): string {
  return JSON.stringify({
    room,
    participant,
    role,
    tier,
    seconds,
    egress_bytes: Number(egressBytes),
    ingress_bytes: Number(ingressBytes),
  });
}
