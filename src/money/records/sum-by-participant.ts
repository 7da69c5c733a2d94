/** Adds up the records of postings by participant, as rows or in the archive. */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { ChargedRecord, SummedPosting } from './charged-record.ts';
import { findInPostings } from './chunks/read-chunks.ts';
import type { ParticipantSum } from './participant-sum.ts';
import { sumRows, sumRowsByRoom } from './sum-by-participant.sql.ts';

/**
 * Sums of the records of these postings, those of the first posting first. `isByRoom`: participants and postings need not be told apart,
 * and are not where that costs less.
 */
export async function sumByParticipant(
  tx: Tx,
  tenant: TenantId,
  postings: readonly SummedPosting[],
  isByRoom = false,
): Promise<ParticipantSum[]> {
  const ofUsage = postings.filter(({ records }) => records !== null);
  const byRoom = isByRoom && ofUsage.length > 0 ? await sumRowsByRoom(tx, tenant, ofUsage) : undefined;
  if (byRoom) return byRoom.sort((one, other) => Number(one.seq - other.seq));
  const { sums, left } = await sumRows(tx, tenant, ofUsage);
  // Rows of some of them may have gone meanwhile, so these are read as a whole from chunks.
  const seqs = left.map(({ seq }) => seq);
  const archived = seqs.length > 0 ? sumUp(await findInPostings(tx, tenant, seqs)) : [];
  return [...sums, ...archived].sort((one, other) => Number(one.seq - other.seq));
}

type Summed = { -readonly [Key in keyof ParticipantSum]: ParticipantSum[Key] };

function sumUp(records: readonly ChargedRecord[]): ParticipantSum[] {
  const sums = new Map<string, Summed>();
  for (const { seq, room, participant, tier, seconds, egressBytes, ingressBytes, amount } of records) {
    const key = JSON.stringify([String(seq), room, participant, tier]);
    const none = { records: 0n, seconds: 0n, longest: 0, egressBytes: 0n, ingressBytes: 0n, amount: 0n };
    const sum = sums.get(key) ?? { seq, room, participant, tier, ...none };
    sum.records += 1n;
    sum.seconds += BigInt(seconds);
    sum.longest = Math.max(sum.longest, seconds);
    sum.egressBytes += egressBytes;
    sum.ingressBytes += ingressBytes;
    sum.amount += amount;
    sums.set(key, sum);
  }
  return [...sums.values()];
}
