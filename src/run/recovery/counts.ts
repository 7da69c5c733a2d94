/** How much a database holds. */

export interface Counts {
  readonly tenants: bigint;
  readonly postings: bigint;
  readonly records: bigint;
  readonly payments: bigint;
}

const NAMES = ['tenants', 'postings', 'records', 'payments'] as const satisfies (keyof Counts)[];

/** `2 tenants, 35 postings, 1200 records, 1 payments`. */
export function renderCounts(counts: Counts): string {
  return NAMES.map((name) => `${counts[name]} ${name}`).join(', ');
}

/** What `whole` has more than `part`. */
export function differenceOf(whole: Counts, part: Counts): Counts {
  return countsBy((name) => whole[name] - part[name]);
}

/** Fails if one of them is no whole number. */
export function readCounts(json: Readonly<Record<keyof Counts, string | number>>): Counts {
  return countsBy((name) => BigInt(json[name]));
}

function countsBy(count: (name: keyof Counts) => bigint): Counts {
  const [tenants, postings, records, payments] = NAMES.map(count) as [bigint, bigint, bigint, bigint];
  return { tenants, postings, records, payments };
}

export function areCounts(counts: Counts, fits: (count: bigint) => boolean): boolean {
  return NAMES.every((name) => fits(counts[name]));
}
