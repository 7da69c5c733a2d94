/** Whether the service admits new participants, as far as this relay knows. */
import type { Admitted, Emit } from './events.ts';

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
