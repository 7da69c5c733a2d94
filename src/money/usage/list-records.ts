/** The usage records of a tenant, as they were charged. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { LedgerFilter, LedgerLine } from '../ledger/ledger-line.ts';
import { findPostings, findSeqs } from '../ledger/walk-ledger.sql.ts';
import { beginningOf } from '../ledger/walk-ledger.ts';
import type { Role, Tier } from '../pricing/role.ts';
import type { ChargedRecord } from '../records/charged-record.ts';
import { findParticipantsOf, findRecordsOf } from '../records/records-of-postings.ts';

export interface RecordQuery {
  readonly room: string | undefined;
  readonly participant: string | undefined;
  readonly role: Role | undefined;
  readonly tier: Tier | undefined;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
}

export interface ListedRecord extends ChargedRecord {
  /** When it was charged. */
  readonly at: Date;
  /** The tenant was exempt: `amount` is what it would have cost. */
  readonly isUnbilled: boolean;
}

export async function filterRecords(
  db: Db,
  tenant: TenantId,
  { from, to, ...fields }: RecordQuery,
): Promise<LedgerFilter> {
  return { kinds: ['usage', 'unbilled'], ...fields, ...(await findSeqs(db, tenant, { from, to })) };
}

/** Records that are looked through for the newest of a participant. */
const LOOKED_MAX = 5_000;

/** Whose records are looked for. */
export interface ParticipantRecords extends Pick<LedgerFilter, 'firstSeq' | 'lastSeq'> {
  readonly room: string;
  /** The username. */
  readonly participant: string;
  /** How many there are. */
  readonly records: bigint;
  /** Whether a name that a relay reported is this participant's. */
  readonly isNamed: (name: string) => boolean;
}

/** The newest records of a participant in a room, in these postings. A few, because no index has participants. */
export async function findNewestRecords(
  db: Db,
  tenant: TenantId,
  { participant, records: count, isNamed, ...filter }: ParticipantRecords,
  limit: number,
): Promise<ListedRecord[]> {
  const kinds = ['usage', 'unbilled'] as const;
  const range = { first: filter.firstSeq, last: filter.lastSeq };
  const postings = await findPostings(db, tenant, kinds, [range], LOOKED_MAX);
  const find = (names: readonly string[]) => {
    const asked = { ...filter, kinds, participant: names };
    return findRecordsOf(db, tenant, postings, { filter: asked, place: beginningOf(asked), limit });
  };
  let records = await find([participant]);
  // A relay may report names as they were typed. To look for them costs as much again.
  if (records.length < Math.min(limit, Number(count))) {
    const names = await findParticipantsOf(db, tenant, postings, filter.room);
    records = await find(names.filter(isNamed));
  }
  const bySeq = new Map(postings.map((posting) => [posting.seq, posting]));
  return records.map((record) => recordOf({ posting: bySeq.get(record.seq)!, record }));
}

export function recordOf({ posting, record }: LedgerLine): ListedRecord {
  // Every line of the kinds `usage` and `unbilled` has one.
  return { ...record!, at: posting.at, isUnbilled: posting.kind === 'unbilled' };
}
