/** Tells once a second what a campaign does, and for how long it has done so. */
const EVERY_MS = 1_000;

export class Progress {
  readonly #write: (line: string) => void;
  readonly #timer: NodeJS.Timeout;
  #name = '';
  #detail: () => string = () => '';
  #begunMs = 0;

  constructor(write: (line: string) => void) {
    this.#write = write;
    this.#timer = setInterval(() => this.#tell(), EVERY_MS).unref();
  }

  /** `detail` is asked each time. */
  begin(name: string, detail: () => string = () => ''): void {
    [this.#name, this.#detail, this.#begunMs] = [name, detail, performance.now()];
    this.#tell();
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #tell(): void {
    const seconds = Math.round((performance.now() - this.#begunMs) / 1_000);
    const detail = this.#detail();
    this.#write(`${this.#name}, ${seconds} s${detail && `: ${detail}`}`);
  }
}
