/**
 * Where the log goes: lines that wait are written together, beside the work.
 *
 * pino's own output never gives up at the end of a process: it writes again and again to a pipe whose reader has gone, or has
 * stopped reading. The process then hears no signal, and what it should end on its way out goes on.
 */
import * as fs from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { DestinationStream } from 'pino';
import { codeOf } from '../lib/error-code.ts';

/** A full pipe is tried again after so long. */
const AGAIN_MS = 20;
/** A process that ends waits so long for a full pipe. Lines that are left are lost. */
const END_WITHIN_MS = 500;

let toStdout: LogOutput | undefined;

/** The same for all logs. Reading `stdout.fd` keeps writes to a full pipe from blocking a thread, and with it the end of the process. */
export function stdoutLog(): LogOutput {
  toStdout ??= new LogOutput(process.stdout.fd ?? 1);
  return toStdout;
}

export class LogOutput implements DestinationStream {
  readonly #fd: number;
  #waiting: string[] = [];
  /** What is being written. */
  #rest = Buffer.alloc(0);
  #isWriting = false;
  #isInFlight = false;
  #isBroken = false;

  constructor(fd: number) {
    this.#fd = fd;
    process.on('exit', () => this.#end());
  }

  write(line: string): void {
    if (this.#isBroken) return;
    this.#waiting.push(line);
    if (!this.#isWriting) void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#take()) {
      const written = await this.#writeRest();
      if (typeof written === 'number') this.#rest = this.#rest.subarray(written);
      else if (isFull(written)) await wait(AGAIN_MS, undefined, { ref: false });
      else this.#drop(written);
    }
    this.#isWriting = false;
  }

  #writeRest(): Promise<number | NodeJS.ErrnoException> {
    this.#isInFlight = true;
    return new Promise((resolve) => {
      fs.write(this.#fd, this.#rest, (error, count) => {
        this.#isInFlight = false;
        resolve(error ?? count);
      });
    });
  }

  /** Returns whether there is something to write. */
  #take(): boolean {
    if (this.#rest.length === 0 && this.#waiting.length > 0)
      this.#rest = Buffer.from(this.#waiting.splice(0).join(''));
    return this.#rest.length > 0;
  }

  /** Where the disk is full, later lines may have a place again. A reader that has gone does not come back. */
  #drop(error: Error): void {
    this.#rest = Buffer.alloc(0);
    if (codeOf(error) !== 'EPIPE') return;
    this.#isBroken = true;
    this.#waiting = [];
  }

  /** Writes what is left, when there is no event loop any more. */
  #end(): void {
    // A thread writes it.
    if (this.#isInFlight) this.#rest = Buffer.alloc(0);
    const deadline = performance.now() + END_WITHIN_MS;
    while (this.#take()) {
      try {
        this.#rest = this.#rest.subarray(fs.writeSync(this.#fd, this.#rest));
      } catch (error) {
        if (!isFull(error) || performance.now() > deadline) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, AGAIN_MS);
      }
    }
  }
}

function isFull(error: unknown): boolean {
  return codeOf(error) === 'EAGAIN';
}
