/** SQL of `usage_records` and `usage_conflicts`. */
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import type { Db, Tx } from '../db/pool.ts';
import type { Role, Tier } from '../pricing/rate-card.ts';
import type { TenantId } from '../tenants/tenant.ts';
import type { UsageRecord } from './usage-record.ts';

/** A record, and what it costs: `amount` in micros, never negative. */
export interface PricedRecord extends UsageRecord {
  readonly amount: bigint;
  readonly capped: boolean;
}

const ROLE_CODES: Readonly<Record<Role, string>> = { host: 'h', audience: 'a', broadcast_audience: 'b' };
const TIER_CODES: Readonly<Record<Tier, string>> = {
  audio: 'a',
  hd: 'h',
  full_hd: 'f',
  '2k': '2',
  '2k_plus': 'k',
};

/** Whether any of these ids was accepted before, as far as can be seen without the lock: a hint. */
export async function anyKnown(db: Db, tenant: TenantId, ids: readonly string[]): Promise<boolean> {
  const { rows } = await db.query({
    name: 'any-known',
    text: 'select 1 from usage_records where tenant_id = $1 and id = any($2) limit 1',
    values: [tenant, ids],
  });
  return rows.length > 0;
}

/** What was stored for an id, as far as a later report of it can differ. */
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

/** Those of the ids that were accepted before. Certain only while the account is locked. */
export async function findKnown(
  tx: Tx,
  tenant: TenantId,
  ids: readonly string[],
): Promise<Map<string, StoredRecord>> {
  const { rows } = await tx.query<StoredRecord>({
    name: 'find-known',
    text: `select id, role, tier, seconds, egress_bytes as "egressBytes", ingress_bytes as "ingressBytes",
                  room, participant
             from usage_records where tenant_id = $1 and id = any($2)`,
    values: [tenant, ids],
  });
  return new Map(rows.map((row) => [row.id, row]));
}

/** Whether a report repeats what was stored for its id, in every field. */
export function repeats(stored: StoredRecord, record: UsageRecord): boolean {
  return (
    stored.egressBytes === record.egressBytes &&
    stored.ingressBytes === record.ingressBytes &&
    stored.seconds === record.seconds &&
    stored.role === ROLE_CODES[record.role] &&
    stored.tier === TIER_CODES[record.tier] &&
    (stored.room ?? undefined) === record.room &&
    (stored.participant ?? undefined) === record.participant
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

/**
 * Store the records of one posting, by COPY: PostgreSQL's fastest way in.
 *
 * An id that is there already fails the whole COPY with a unique violation of `usage_records_pkey`.
 */
export async function copyRecords(
  tx: Tx,
  tenant: TenantId,
  postingSeq: bigint,
  records: readonly PricedRecord[],
): Promise<void> {
  const sink = tx.query(
    copyFrom(`copy usage_records (tenant_id, posting_seq, egress_bytes, ingress_bytes, amount, seconds, line,
                                  role, tier, capped, id, room, participant) from stdin`),
  );
  await pipeline(copyText(tenant, postingSeq, records), sink);
}

/** PostgreSQL stores one piece while the next is being written. */
const ROWS_PER_PIECE = 500;

/**
 * The rows in COPY's text format, in pieces.
 *
 * They go in the order of their ids, which takes a quarter off the time: neighbours in the index
 * are then inserted one after the other, into pages that are at hand.
 */
function* copyText(
  tenant: TenantId,
  postingSeq: bigint,
  records: readonly PricedRecord[],
): Generator<string> {
  const rows = records.map((record, line) => ({ record, line }));
  rows.sort((a, b) => (a.record.id < b.record.id ? -1 : 1));
  const head = `${tenant}\t${postingSeq}\t`;
  for (let start = 0; start < rows.length; start += ROWS_PER_PIECE) {
    let text = '';
    for (const { record, line } of rows.slice(start, start + ROWS_PER_PIECE)) {
      text +=
        `${head}${record.egressBytes}\t${record.ingressBytes}\t${record.amount}\t${record.seconds}\t${line}\t` +
        `${ROLE_CODES[record.role]}\t${TIER_CODES[record.tier]}\t${record.capped ? 't' : 'f'}\t` +
        `${copyField(record.id)}\t${copyField(record.room)}\t${copyField(record.participant)}\n`;
    }
    yield text;
  }
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function copyField(text: string | undefined): string {
  if (text === undefined) return '\\N';
  return /[\\\t\n\r]/.test(text) ? text.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character]!) : text;
}

/** Keep reports that gave an accepted id other values: counted, with the newest such values. */
export async function recordConflicts(
  tx: Tx,
  tenant: TenantId,
  records: readonly UsageRecord[],
): Promise<void> {
  if (records.length === 0) return;
  const reported = new Map<string, { times: number; values: string }>();
  for (const record of records) {
    const times = (reported.get(record.id)?.times ?? 0) + 1;
    reported.set(record.id, { times, values: renderReported(record) });
  }
  const rows = [...reported.values()];
  await tx.query(
    `insert into usage_conflicts (tenant_id, id, times, reported)
     select $1, id, times, reported from unnest($2::text[], $3::integer[], $4::jsonb[]) as r (id, times, reported)
     on conflict (tenant_id, id) do update
        set times = usage_conflicts.times + excluded.times, last_at = now(), reported = excluded.reported`,
    [tenant, [...reported.keys()], rows.map((row) => row.times), rows.map((row) => row.values)],
  );
}

/** The report as the relay sent it, but for its id. */
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
