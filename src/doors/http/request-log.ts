/** The log of one request. It adds the id of the request to a line when the line is written. */
import type { FastifyBaseLogger } from 'fastify';

type Line = Parameters<FastifyBaseLogger['info']>;

/**
 * A child logger of pino renders its bindings when it is made. Most requests write at most one line, and none at the
 * level `warn`, so this costs less.
 */
export class RequestLog implements FastifyBaseLogger {
  readonly #log: FastifyBaseLogger;
  readonly #bindings: object;

  constructor(log: FastifyBaseLogger, bindings: object) {
    this.#log = log;
    this.#bindings = bindings;
  }

  get level(): string {
    return this.#log.level;
  }

  child(...given: Parameters<FastifyBaseLogger['child']>): FastifyBaseLogger {
    return this.#log.child(this.#bindings).child(...given);
  }

  fatal(...line: unknown[]): void {
    this.#log.fatal(...this.#complete(line));
  }

  error(...line: unknown[]): void {
    this.#log.error(...this.#complete(line));
  }

  warn(...line: unknown[]): void {
    this.#log.warn(...this.#complete(line));
  }

  info(...line: unknown[]): void {
    this.#log.info(...this.#complete(line));
  }

  debug(...line: unknown[]): void {
    this.#log.debug(...this.#complete(line));
  }

  trace(...line: unknown[]): void {
    this.#log.trace(...this.#complete(line));
  }

  silent(): void {}

  /** A line begins with its fields, with an error, or with its message. */
  #complete([first, ...rest]: unknown[]): Line {
    const line =
      first instanceof Error
        ? [{ ...this.#bindings, err: first }, ...rest]
        : typeof first === 'object'
          ? [{ ...this.#bindings, ...first }, ...rest]
          : [this.#bindings, first, ...rest];
    return line as Line;
  }
}
