/**
 * Reads the ledger of a tenant backwards, line by line: every posting, and in place of a posting of usage its records.
 *
 * A ledger is append-only, so a walk that is interrupted goes on where it was, and one that takes hours shows the
 * ledger as it was when it began. It holds no transaction.
 */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { ChargedRecord } from '../records/charged-record.ts';
import { findRecordsOf } from '../records/records-of-postings.ts';
import type { LedgerFilter, LedgerLine, LedgerPlace, LedgerPosting } from './ledger-line.ts';
import { findRoomRanges, type RoomSearch, type SeqRange } from './room-ranges.sql.ts';
import { findPostings } from './walk-ledger.sql.ts';

export interface Stretch {
  readonly lines: readonly LedgerLine[];
  /** Where the next stretch begins. */
  readonly place: LedgerPlace;
  /** How many records were looked at, at most. */
  readonly looked: number;
}

/** More lines than any posting has. */
const LINES_END = 2 ** 16;
/** How many records a filter looks through by one statement. */
const FILTERED_AT_ONCE = 20_000;
/** A filter that fits few records must not read the whole ledger for one page. */
const LOOKED_MAX = 40_000;

/** Before the newest line. */
export function beginningOf({ lastSeq }: LedgerFilter): LedgerPlace {
  return { seq: lastSeq, line: LINES_END };
}

/**
 * At most `limit` further lines, newest first. With a filter there may be fewer, or none, though others follow.
 * `undefined`: no lines follow.
 */
export async function readStretch(
  db: Db,
  tenant: TenantId,
  filter: LedgerFilter,
  place: LedgerPlace,
  limit: number,
): Promise<Stretch | undefined> {
  const look = isOfRecords(filter) ? Math.max(limit, FILTERED_AT_ONCE) : limit;
  const ranges = await findRanges(db, tenant, filter, place, { records: limit, look });
  const lowest = ranges.at(-1);
  if (!lowest) return undefined;
  const postings = await findPostings(db, tenant, filter.kinds, ranges, look);
  // The hours of a room may have postings of other kinds alone.
  const last = postings.at(-1) ?? { seq: lowest.first };
  const records = await findRecordsOf(db, tenant, postings, { filter, place, limit });
  const lines = merge(postings, records, filter);
  const isCut = records.length === limit || lines.length > limit;
  const wanted = lines.slice(0, limit);
  return {
    lines: wanted,
    place: isCut ? placeOf(wanted.at(-1)!) : { seq: last.seq, line: 0 },
    looked: postings.length > 0 ? postings.reduce((sum, { records }) => sum + (records ?? 1), 0) : look,
  };
}

/** Where the next postings are, newest first. None: no lines follow. */
async function findRanges(
  db: Db,
  tenant: TenantId,
  { firstSeq: first, room }: LedgerFilter,
  place: LedgerPlace,
  enough: Pick<RoomSearch, 'records' | 'look'>,
): Promise<SeqRange[]> {
  const last = place.line > 0 ? place.seq : place.seq - 1n;
  if (last < first) return [];
  return room === undefined
    ? [{ first, last }]
    : findRoomRanges(db, tenant, { room, first, last, ...enough });
}

/** Whether only records fit the filter. */
function isOfRecords({ room, participant, role, tier }: LedgerFilter): boolean {
  return [room, participant, role, tier].some((each) => each !== undefined);
}

function merge(
  postings: readonly LedgerPosting[],
  records: readonly ChargedRecord[],
  filter: LedgerFilter,
): LedgerLine[] {
  const bySeq = new Map(postings.map((posting) => [posting.seq, posting]));
  const lines: LedgerLine[] = records.map((record) => ({ posting: bySeq.get(record.seq)!, record }));
  if (isOfRecords(filter)) return lines;
  lines.push(...postings.filter((posting) => posting.records === null).map((posting) => ({ posting })));
  // Sorting is stable, and the records of a posting are in order.
  return lines.sort((one, other) => Number(other.posting.seq - one.posting.seq));
}

function placeOf({ posting, record }: LedgerLine): LedgerPlace {
  return { seq: posting.seq, line: record?.line ?? 0 };
}

export interface LedgerPage {
  readonly lines: readonly LedgerLine[];
  /** `undefined`: there are no further lines. */
  readonly place: LedgerPlace | undefined;
}

/** A page of at most `limit` lines. With a filter it may have fewer, or none, though others follow. */
export async function readLedgerPage(
  db: Db,
  tenant: TenantId,
  filter: LedgerFilter,
  start: LedgerPlace,
  limit: number,
): Promise<LedgerPage> {
  const lines: LedgerLine[] = [];
  let place = start;
  for (let looked = 0; looked < LOOKED_MAX && lines.length < limit; ) {
    const stretch = await readStretch(db, tenant, filter, place, limit - lines.length);
    if (!stretch) return { lines, place: undefined };
    lines.push(...stretch.lines);
    place = stretch.place;
    looked += stretch.looked;
  }
  const isMore = await hasMore(db, tenant, filter, place);
  return { lines, place: isMore ? place : undefined };
}

/** Whether lines may follow that the filter lets through. */
async function hasMore(db: Db, tenant: TenantId, filter: LedgerFilter, place: LedgerPlace): Promise<boolean> {
  const ranges = await findRanges(db, tenant, filter, place, { records: 1, look: 1 });
  if (ranges.length === 0 || filter.room !== undefined) return ranges.length > 0;
  return (await findPostings(db, tenant, filter.kinds, ranges, 1)).length > 0;
}
