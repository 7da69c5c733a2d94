/** Whether the service admits new participants, as far as this relay knows. */
import type { Emit } from './events.ts';

/**
 * `false`: admit nobody new; those who are in stay, and are reported. `unknown`: no answer came since the
 * start. While the service cannot be reached, the last value stays.
 */
export type Admitted = boolean | 'unknown';

export class Admission {
  readonly #emit: Emit;
  #admitted: Admitted = 'unknown';

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  get admitted(): Admitted {
    return this.#admitted;
  }

  set(admitted: boolean): void {
    const before = this.#admitted;
    if (admitted === before) return;
    this.#admitted = admitted;
    this.#emit({ type: 'admitted_changed', admitted, before });
  }
}
