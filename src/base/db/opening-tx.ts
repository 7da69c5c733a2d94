/**
 * The connection of a transaction that has not begun. BEGIN goes with the first statement of the work, in one
 * round trip. If it fails, PostgreSQL skips that statement.
 */
import { Pipeline, resultsOf, runTogether, type Statement } from './pipeline.ts';
import type { Tx } from './pool.ts';

const BEGIN: Statement = { name: 'begin', text: 'begin' };
const COMMIT: Statement = { name: 'commit', text: 'commit' };

export class OpeningTx implements Tx {
  readonly #connection: Tx;
  /** What goes before the next statement. */
  #waiting: readonly Statement[];

  /** `first` are sent right after BEGIN. */
  constructor(connection: Tx, first: readonly Statement[]) {
    this.#connection = connection;
    this.#waiting = [BEGIN, ...first];
  }

  /** Whether PostgreSQL may have begun the transaction. */
  get hasBegun(): boolean {
    return this.#waiting.length === 0;
  }

  readonly query = ((...given: [unknown, ...unknown[]]) => {
    if (this.hasBegun) return this.#query(...given);
    const waiting = this.#waiting;
    this.#waiting = [];
    const [statement] = given;
    if (statement instanceof Pipeline) return this.#query(statement.after(waiting));
    if (isPrepared(statement)) return this.#lastOf([...waiting, statement]);
    return runTogether(this.#connection, waiting).then(() => this.#query(...given));
  }) as Tx['query'];

  /** Begin by other SQL, in a round trip of its own. */
  async begin(sql: string): Promise<void> {
    this.#waiting = [];
    await this.#connection.query(sql);
  }

  /** Send BEGIN and the statements that go first, if there are any, although the work sent none of its own. */
  async sendFirst(): Promise<void> {
    if (this.#waiting.length > 1) await runTogether(this, []);
  }

  /** Commit, together with `last`. */
  async commit(last: readonly Statement[]): Promise<void> {
    if (last.length > 0) await runTogether(this, [...last, COMMIT]);
    else if (this.hasBegun) await this.#connection.query('commit');
  }

  #query(...given: readonly unknown[]): unknown {
    const connection = this.#connection as { query(...all: readonly unknown[]): unknown };
    return connection.query(...given);
  }

  async #lastOf(statements: readonly Statement[]): Promise<unknown> {
    return (await resultsOf(this.#connection, statements)).at(-1);
  }
}

/** Other statements are left to the driver. */
function isPrepared(statement: unknown): statement is Statement {
  return typeof statement === 'object' && statement !== null && 'name' in statement && 'text' in statement;
}
