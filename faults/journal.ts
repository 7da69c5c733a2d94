/**
 * What clients did and what the outside saw, as one JSON line each. The checker reads it, and nothing else of the campaign.
 *
 * Each line is one operation with the time before it and the time after it, both by the clock of the campaign's own process,
 * which never goes back. Lines are in the order in which operations ended. What was under way when the campaign ended is there, too.
 */
import { createReadStream, createWriteStream, type WriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Args, Operation } from './operations.ts';

/**
 * `ok`: a success. `refused`: an answer that promises no effect (4xx, or its gRPC code). `unknown`: no answer, a lost connection or 5xx: there
 * is all of the effect or none.
 */
export type Outcome = 'ok' | 'refused' | 'unknown';

export interface Entry<O extends Operation = Operation> {
  /** Each client does one operation at a time. What the outside saw is of client -1. */
  readonly client: number;
  readonly op: O;
  readonly args: Args<O>;
  readonly invokedUs: number;
  /** `null`: no answer came. */
  readonly returnedUs: number | null;
  readonly outcome: Outcome;
  /** The status of HTTP, or the code of gRPC. */
  readonly status?: number;
  /** The body as it came, without secrets. */
  readonly answer?: Readonly<Record<string, unknown>>;
}

/** An entry of any operation, told apart by `op`. */
export type AnyEntry = { readonly [O in Operation]: Entry<O> }[Operation];

/** What a client makes of an answer. */
export type Reply = Pick<Entry, 'outcome' | 'status' | 'answer'>;

/** The client of what the outside saw. */
export const OUTSIDE = -1;

export class Journal {
  readonly path: string;
  readonly #file: WriteStream;
  readonly #begun = process.hrtime.bigint();
  readonly #counts = new Map<string, number>();
  #isClosed = false;

  constructor(path: string) {
    this.path = path;
    this.#file = createWriteStream(path, { flags: 'a' });
  }

  /** Microseconds since the journal began. */
  now(): number {
    return Number((process.hrtime.bigint() - this.#begun) / 1000n);
  }

  /** Do an operation of a client, and write down what became of it. */
  async record<O extends Operation, R extends Reply>(
    client: number,
    op: O,
    args: Args<O>,
    call: () => Promise<R>,
  ): Promise<R> {
    const invokedUs = this.now();
    const { outcome, status, answer, ...rest } = await call();
    const returnedUs = outcome === 'unknown' && status === undefined ? null : this.now();
    const reply = { outcome, ...(status !== undefined && { status }), ...(answer && { answer }) };
    this.#write({ client, op, args, invokedUs, returnedUs, ...reply } as AnyEntry);
    return { ...reply, ...rest } as R;
  }

  /** Something that the outside saw at this moment. */
  note<O extends Operation>(op: O, args: Args<O>): void {
    const now = this.now();
    const times = { invokedUs: now, returnedUs: now };
    this.#write({ client: OUTSIDE, op, args, ...times, outcome: 'ok' } as AnyEntry);
  }

  /** How many entries of each operation there are, and how many of each outcome: `usage.report ok`. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** What comes later is not written down. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await new Promise((resolve, reject) => {
      this.#file.once('error', reject);
      this.#file.end(resolve);
    });
  }

  #write(entry: AnyEntry): void {
    if (this.#isClosed) return;
    for (const name of [entry.op, `${entry.op} ${entry.outcome}`])
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    this.#file.write(`${JSON.stringify(entry)}\n`);
  }
}

/** The entries of a closed journal, in the order of their ends. */
export async function* readJournal(path: string): AsyncGenerator<AnyEntry> {
  for await (const line of createInterface({ input: createReadStream(path) })) yield JSON.parse(line);
}
