/** The records of postings, as rows or in the archive. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { ChargedRecord, RecordFilter, RecordsPlace } from './charged-record.ts';
import { findInPostings } from './chunks/read-chunks.ts';
import { findParticipantsInRows, findRowsOf, type Wanted } from './records-of-postings.sql.ts';

/** The records of these postings, newest first. */
export async function findRecordsOf(
  db: Db,
  tenant: TenantId,
  postings: readonly RecordsPlace[],
  wanted: Wanted,
): Promise<ChargedRecord[]> {
  const ofUsage = postings.filter(({ records }) => records !== null);
  if (ofUsage.length === 0) return [];
  const { rows, archivedSeq } = await findRowsOf(db, tenant, ofUsage, wanted);
  const { filter, place, limit } = wanted;
  const isAfterPlace = ({ seq, line }: ChargedRecord) =>
    seq < place.seq || (seq === place.seq && line < place.line);
  const archived = await findInPostings(
    db,
    tenant,
    archivedOf(ofUsage, archivedSeq),
    (record) => isAfterPlace(record) && fits(record, filter),
    limit - rows.length,
  );
  return [...rows, ...archived];
}

/** The names of participants that the records of these postings have in a room. */
export async function findParticipantsOf(
  db: Db,
  tenant: TenantId,
  postings: readonly RecordsPlace[],
  room: string,
): Promise<string[]> {
  const ofUsage = postings.filter(({ records }) => records !== null);
  if (ofUsage.length === 0) return [];
  const { rows, archivedSeq } = await findParticipantsInRows(db, tenant, ofUsage, room);
  const seqs = archivedOf(ofUsage, archivedSeq);
  const archived = await findInPostings(db, tenant, seqs, (record) => record.room === room);
  return [...new Set([...rows, ...archived.flatMap(({ participant }) => participant ?? [])])];
}

function archivedOf(postings: readonly RecordsPlace[], archivedSeq: bigint): bigint[] {
  return postings.map(({ seq }) => seq).filter((seq) => seq <= archivedSeq);
}

/** As the condition on rows in `records-of-postings.sql.ts`. */
function fits(record: ChargedRecord, { room, participant, role, tier }: RecordFilter): boolean {
  return (
    (room === undefined || (record.room ?? '') === room) &&
    (participant === undefined || [participant].flat().includes(record.participant ?? '')) &&
    (role === undefined || record.role === role) &&
    (tier === undefined || record.tier === tier)
  );
}
