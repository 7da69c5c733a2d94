/**
 * Works out what is left of grants, from sums of the ledger. Pure. Amounts are in micros.
 *
 * Between two postings at which a grant begins or ends, the order of postings does not matter: usage spends the grants
 * that are open, the earliest end first, then paid credit, and everything else moves paid credit. So the usage between
 * them is all that it takes.
 */

/** A grant, for its time. */
export interface Lot {
  /** The posting that gave it. */
  readonly seq: bigint;
  readonly amount: bigint;
  readonly expiresAt: Date | null;
  /** The newest posting that it may pay; `null`: the newest there is. */
  readonly lastSeq: bigint | null;
  /** The posting that took what was left; `null`: none so far. */
  readonly endSeq: bigint | null;
}

/** The ledger after a posting. */
export interface Mark {
  readonly seq: bigint;
  readonly balance: bigint;
  /** What usage cost since the mark before. */
  readonly usage: bigint;
}

/** The postings after which a lot begins or ends, and `last`, in their order. */
export function turningPoints(lots: readonly Lot[], last: bigint): bigint[] {
  const points = lots.flatMap(({ seq, lastSeq }) => [seq - 1n, lastSeq ?? last]);
  return [...new Set([...points, last])].sort((a, b) => Number(a > b) - Number(a < b));
}

/**
 * What is left of each lot after the last mark, by `seq`; for one that ended, what was left then. `marks`: those of
 * `turningPoints()`. No lot that is left out may have been open meanwhile.
 *
 * A grant first pays what the tenant owes. Later debts of paid credit, such as after a refund, are none of its business.
 */
export function replay(lots: readonly Lot[], marks: readonly Mark[]): Map<bigint, bigint> {
  const left = new Map<bigint, bigint>();
  const beginnings = Map.groupBy(lots, ({ seq }) => seq - 1n);
  /** In the order in which they pay. */
  let open: Lot[] = [];
  /** What they had left is in the balance until a posting takes it. */
  let over: Lot[] = [];
  for (const { seq: at, balance, usage } of marks) {
    pay(open, left, usage);
    over = [...over, ...open.filter(({ lastSeq }) => lastSeq === at)].filter(({ endSeq }) =>
      isAfter(endSeq, at),
    );
    open = open.filter(({ lastSeq }) => isAfter(lastSeq, at));
    for (const lot of beginnings.get(at) ?? []) {
      const owed = sumInBalance([...open, ...over], left, at) - balance;
      const kept = owed > 0n ? lot.amount - owed : lot.amount;
      left.set(lot.seq, kept > 0n ? kept : 0n);
      open = [...open, lot].sort(compareEnds);
    }
  }
  return left;
}

function pay(inOrder: readonly Lot[], left: Map<bigint, bigint>, usage: bigint): void {
  let unpaid = usage;
  for (const { seq } of inOrder) {
    if (unpaid === 0n) return;
    const rest = left.get(seq)!;
    const paid = rest < unpaid ? rest : unpaid;
    left.set(seq, rest - paid);
    unpaid -= paid;
  }
}

/** The part of the balance after posting `at` that was granted. It holds what ended, until a posting takes it. */
export function sumInBalance(lots: readonly Lot[], left: ReadonlyMap<bigint, bigint>, at: bigint): bigint {
  return lots.reduce(
    (sum, { seq, endSeq }) => (endSeq === null || endSeq > at ? sum + (left.get(seq) ?? 0n) : sum),
    0n,
  );
}

/** `null`: no posting so far, so a later one. */
function isAfter(seq: bigint | null, at: bigint): boolean {
  return seq === null || seq > at;
}

/** The earliest end first, those without one last; of two with the same, the older one. */
function compareEnds(a: Lot, b: Lot): number {
  const [one, other] = [a.expiresAt?.getTime() ?? Infinity, b.expiresAt?.getTime() ?? Infinity];
  return one === other ? Number(a.seq > b.seq) - Number(a.seq < b.seq) : one - other;
}
