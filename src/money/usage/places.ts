/** Limits how much work runs at the same time. Tenants that never paid leave places to the others, which go first. */

interface Waiting {
  readonly hasPaid: boolean;
  readonly begin: () => void;
}

export class Places {
  readonly #max: number;
  readonly #neverPaidMax: number;
  readonly #running = { all: 0, neverPaid: 0 };
  /** In order of arrival. */
  readonly #waiting: Waiting[] = [];

  constructor(max: number, neverPaidMax = Math.max(1, max >> 1)) {
    this.#max = max;
    this.#neverPaidMax = neverPaidMax;
  }

  /** Whether work would begin at once. */
  isFree(hasPaid: boolean): boolean {
    const { all, neverPaid } = this.#running;
    return all < this.#max && (hasPaid || neverPaid < this.#neverPaidMax);
  }

  async run<T>(hasPaid: boolean, work: () => Promise<T>): Promise<T> {
    if (this.isFree(hasPaid)) this.#count(hasPaid, 1);
    else await new Promise<void>((begin) => void this.#waiting.push({ hasPaid, begin }));
    try {
      return await work();
    } finally {
      this.#count(hasPaid, -1);
      this.#next();
    }
  }

  #next(): void {
    const paid = this.#waiting.findIndex(({ hasPaid }) => hasPaid);
    const at = paid >= 0 ? paid : 0;
    const next = this.#waiting[at];
    if (!next || !this.isFree(next.hasPaid)) return;
    this.#waiting.splice(at, 1);
    this.#count(next.hasPaid, 1);
    next.begin();
  }

  #count(hasPaid: boolean, change: 1 | -1): void {
    this.#running.all += change;
    if (!hasPaid) this.#running.neverPaid += change;
  }
}
