/** Reads every usage record once, and compares all that follows from records: charges, postings, and sums by hour. */
import type { Db } from '../../base/db/pool.ts';
import { type OnDamage, readRecords } from '../records/read-records.ts';
import { compareHours } from './compare-sums.sql.ts';
import { Recomputation } from './recompute-charges.ts';
import { RecordSums, type Slices } from './record-sums.ts';
import { comparePostings, DIFFERENCES_MAX, type Difference } from './verify.sql.ts';

/**
 * The differences of postings, of hours, and of charges, each up to DIFFERENCES_MAX. `at` is told how many records were read.
 * Needs a transaction.
 */
export async function compareRecords(
  db: Db,
  { at, sums = new RecordSums() }: { readonly at?: (done: bigint) => void; readonly sums?: RecordSums } = {},
): Promise<Difference[][]> {
  const damaged: Difference[] = [];
  const [ofPostings, ofHours, ofCharges]: [Difference[], Difference[], Difference[]] = [[], [], []];
  const recomputation = new Recomputation(db);
  const compare = async ({ postings, hours }: Slices) => {
    if (postings) note(ofPostings, await comparePostings(db, postings));
    if (hours) note(ofHours, await compareHours(db, hours));
  };
  let done = 0n;
  const onDamage: OnDamage = (tenant, { message }) =>
    note(damaged, [{ tenant, what: 'archived records', expected: 'readable', found: message }]);
  for await (const records of readRecords(db, {}, onDamage)) {
    for (const record of records) {
      const wrong = await recomputation.add(record);
      if (wrong) note(ofCharges, [wrong]);
      const full = sums.add(record);
      if (full) await compare(full);
    }
    done += BigInt(records.length);
    at?.(done);
  }
  const wrong = recomputation.finish();
  if (wrong) note(ofCharges, [wrong]);
  await compare(sums.finish());
  return [damaged, ofPostings, ofHours, ofCharges];
}

/** Adds to a list, up to DIFFERENCES_MAX. */
export function note(differences: Difference[], found: readonly Difference[]): void {
  differences.push(...found.slice(0, DIFFERENCES_MAX - differences.length));
}
