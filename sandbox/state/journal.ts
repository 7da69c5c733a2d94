/**
 * An append-only file of JSON lines that survives `kill -9`.
 *
 * One line holds everything that one request wrote, in a single write: after a crash a
 * request is there as a whole or not at all. A crash may leave a torn last line, which is
 * dropped. A bad line before it is damage and is refused.
 */
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
} from 'node:fs';
import { join } from 'node:path';

/** A row written to a table, or deleted from it if `row` is null. */
export type Write = readonly [table: string, id: string, row: unknown];

export interface Line {
  /** How many identifiers have been generated. */
  readonly sequence: number;
  readonly writes: readonly Write[];
}

const ROWS_PER_LINE = 500;

export class Journal {
  readonly #path: string;
  #file: number | undefined;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#path = join(folder, 'journal.ndjson');
  }

  /** Every complete line, oldest first. */
  read(): Line[] {
    if (!existsSync(this.#path)) return [];
    const lines = readFileSync(this.#path, 'utf8').split('\n');
    // The text after the last line break is '' or the torn line that a crash left.
    return lines.slice(0, -1).map((line, index) => this.#parse(line, index + 1));
  }

  /** Replace the file by `rows` and open it for appending. */
  compact(sequence: number, rows: readonly Write[]): void {
    const fresh = `${this.#path}.new`;
    const file = openSync(fresh, 'w', 0o600);
    for (let start = 0; start === 0 || start < rows.length; start += ROWS_PER_LINE) {
      appendFileSync(file, render({ sequence, writes: rows.slice(start, start + ROWS_PER_LINE) }));
    }
    closeSync(file);
    renameSync(fresh, this.#path);
    this.#file = openSync(this.#path, 'a', 0o600);
  }

  append(line: Line): void {
    if (this.#file !== undefined) appendFileSync(this.#file, render(line));
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #parse(line: string, number: number): Line {
    try {
      return JSON.parse(line) as Line;
    } catch {
      throw new Error(
        `Sandbox journal ${this.#path} is damaged at line ${number}; move the file away to start afresh.`,
      );
    }
  }
}

function render(line: Line): string {
  return `${JSON.stringify(line)}\n`;
}
