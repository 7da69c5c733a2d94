/** The driver of one SDK: a process that runs operations and prints what comes of them, as README.md says. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
export type Json = any;

/** What an operation ends with. */
export interface Outcome {
  readonly ok?: Json;
  readonly error?: Json;
}

/** One line of the driver. */
interface Message extends Outcome {
  readonly id: number;
  readonly page?: Json[] | null;
  readonly event?: Json;
}

/** An operation that takes longer has failed: no step waits for so long. */
const ANSWER_MS_MAX = 60_000;
/** How long a driver may take to end. */
const END_MS_MAX = 2_000;

/** An API key in clear, which no error may show. */
const SECRET = /svc_[0-9a-f]{16}_[A-Za-z0-9_-]+/;

/** The messages of one operation, in order. */
export class Operation {
  readonly id: number;
  readonly #messages: Message[] = [];
  #wake: () => void = () => {};

  constructor(id: number) {
    this.id = id;
  }

  push(message: Message): void {
    this.#messages.push(message);
    this.#wake();
  }

  /** The next message. If none comes in time, an error of the kind `NoAnswer`. */
  async next(timeoutMs = ANSWER_MS_MAX): Promise<Message> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    if (this.#messages.length > 0) return this.#messages.shift()!;
    const timer = setTimeout(resolve, timeoutMs);
    await promise;
    clearTimeout(timer);
    return this.#messages.shift() ?? { id: this.id, error: { kind: 'NoAnswer' } };
  }
}

export class Driver {
  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #operations = new Map<number, Operation>();
  readonly #exit: Promise<number | null>;
  #printed = '';
  #next = 1;
  #ended = false;

  constructor([command, ...args]: readonly string[]) {
    this.#process = spawn(command!, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#exit = this.#watch();
    this.#process.stdin.on('error', () => {});
    createInterface(this.#process.stdout).on('line', (line) => this.#receive(line));
    this.#process.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#printed += text;
    });
  }

  /** What it printed for people. */
  get printed(): string {
    return this.#printed;
  }

  /** Whether an API key is in what it printed for people. */
  get hasShownKey(): boolean {
    return SECRET.test(this.#printed);
  }

  async #watch(): Promise<number | null> {
    const code = await once(this.#process, 'close').then(
      ([exitCode]) => exitCode,
      (error: Error) => {
        this.#printed += `${error.message}\n`;
        return null;
      },
    );
    this.#ended = true;
    for (const operation of this.#operations.values()) operation.push(endOf(operation.id));
    return code;
  }

  #receive(line: string): void {
    const message = parseMessage(line);
    if (message === undefined) {
      this.#printed += `not a message: ${line.slice(0, 500)}\n`;
      return;
    }
    if (message.error && SECRET.test(line)) message.error.kind = 'ShowsTheKey';
    this.#operations.get(message.id)?.push(message);
  }

  /** Start an operation. */
  start(fields: object): Operation {
    const operation = new Operation(this.#next++);
    this.#operations.set(operation.id, operation);
    if (this.#ended) operation.push(endOf(operation.id));
    else this.tell({ id: operation.id, ...fields });
    return operation;
  }

  /** Start an operation, and wait for its end. */
  async ask(fields: object): Promise<Outcome> {
    return outcomeOf(await this.start(fields).next());
  }

  /** Send a line that has no answer of its own. */
  tell(fields: object): void {
    this.#process.stdin.write(`${JSON.stringify({ id: this.#next++, ...fields })}\n`);
  }

  /** End it. Returns its exit code; null: it had to be killed, or could not be started. */
  async stop(): Promise<number | null> {
    this.#process.stdin.end();
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), END_MS_MAX);
    const code = await this.#exit;
    clearTimeout(timer);
    return code;
  }
}

function parseMessage(line: string): Message | undefined {
  try {
    const message = JSON.parse(line);
    return typeof message.id === 'number' ? message : undefined;
  } catch {
    return undefined;
  }
}

function endOf(id: number): Message {
  return { id, error: { kind: 'DriverEnded' } };
}

export function outcomeOf({ ok, error }: Message): Outcome {
  return error === undefined ? { ok } : { error };
}
