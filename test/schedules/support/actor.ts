/** One of several that run side by side. It stops before each step until the scheduler releases it. */

interface Waiting {
  readonly label: string;
  readonly release: () => void;
}

/** Rings whenever an actor has stopped, gone on or ended. */
export class Bell {
  #next = Promise.withResolvers<void>();

  ring(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  rung(): Promise<void> {
    return this.#next.promise;
  }
}

export class Actor {
  readonly index: number;
  readonly #bell: Bell;
  readonly #waiting: Waiting[] = [];
  #running = 0;
  #isFree = false;
  #isDone = false;

  constructor(index: number, bell: Bell) {
    this.index = index;
    this.#bell = bell;
  }

  /** Its work has ended, well or not. */
  get isDone(): boolean {
    return this.#isDone;
  }

  get isRunning(): boolean {
    return this.#running > 0;
  }

  get isReady(): boolean {
    return !this.isRunning && this.#waiting.length > 0;
  }

  /** Do `work` once it is released. `label` tells which step it is. */
  async step<T>(label: string, work: () => Promise<T>): Promise<T> {
    if (this.#isFree) return work();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ label, release: resolve });
    this.#bell.ring();
    await promise;
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#bell.ring();
    }
  }

  /** Let it make its next step. Returns which one. */
  release(): string {
    const next = this.#waiting.shift()!;
    this.#running += 1;
    next.release();
    return next.label;
  }

  /** From now on it stops no more. */
  free(): void {
    this.#isFree = true;
    while (this.#waiting.length > 0) this.release();
  }

  end(): void {
    this.#isDone = true;
    this.#bell.ring();
  }
}
