/**
 * Sends several statements to PostgreSQL in one round trip.
 *
 * Each statement sees what those before it did. After an error, PostgreSQL skips the others. Source: PostgreSQL
 * manual, "Extended Query" and "Pipelining". The driver's own pipelining is a property of a connection, ends
 * each statement with a Sync, so that the next one runs in spite of an error, and has no COPY.
 */
import pg from 'pg';
import type { Tx } from './pool.ts';

type Value =
  | string
  | number
  | bigint
  | boolean
  | Buffer
  | null
  | readonly (string | number | bigint | null)[];

/** Prepared under its name on each connection; `''`: each time. `Row`: the type of its rows. */
export interface Statement<Row = unknown> {
  readonly name: string;
  readonly text: string;
  readonly values?: readonly Value[];
  /** For `copy ... from stdin`: its data as whole CopyData messages. Each is sent when it is made. */
  readonly copyData?: Iterable<Uint8Array>;
  /** What to throw instead of PostgreSQL's error. */
  readonly explain?: (error: unknown) => unknown;
  /** Gets the rows once all statements have succeeded, and may throw. */
  check?(rows: readonly Row[]): void;
  /** Never set. */
  readonly row?: Row;
}

/** The rows of each statement, in order. */
export type RowsOf<Statements extends readonly Statement[]> = {
  [Index in keyof Statements]: Statements[Index] extends Statement<infer Row> ? Row[] : never;
};

/** Run the statements in order. Fails with the first error. */
export async function runTogether<const Statements extends readonly Statement[]>(
  tx: Tx,
  statements: Statements,
): Promise<RowsOf<Statements>> {
  const results = await resultsOf(tx, statements);
  return results.map(({ rows }) => rows) as RowsOf<Statements>;
}

/** Like `runTogether()`, with each statement's result as the driver returns it for one. */
export function resultsOf(tx: Tx, statements: readonly Statement[]): Promise<readonly Rows[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly Rows[]>();
  const pipeline = new Pipeline(statements, (error, results) => {
    if (error) reject(error);
    else resolve(results!);
  });
  tx.query(pipeline);
  return promise;
}

/** What the driver's connection has beyond its types. */
interface Connection extends Omit<pg.Connection, 'parse' | 'bind' | 'describe' | 'execute'> {
  /** The text of each statement that is prepared, and of those whose preparation has no answer yet. */
  readonly parsedStatements: Record<string, string | undefined>;
  readonly submittedNamedStatements: Record<string, string | undefined>;
  parse(statement: { name: string; text: string }): void;
  bind(statement: {
    statement: string;
    values: readonly Value[];
    valueMapper: (value: Value) => unknown;
  }): void;
  describe(portal: { type: 'P' }): void;
  execute(): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
}

/** The driver's parser of rows. */
interface Rows {
  readonly rows: unknown[];
  _types: unknown;
  addFields(fields: unknown): void;
  parseRow(fields: unknown): unknown;
  addRow(row: unknown): void;
  addCommandComplete(message: unknown): void;
}

const { Result, utils } = pg as unknown as {
  readonly Result: new () => Rows;
  readonly utils: { prepareValue(value: Value): unknown };
};

/** A query as the driver runs it: it hands over the messages that arrive. */
export class Pipeline implements pg.Submittable {
  readonly statements: readonly Statement[];
  readonly #results: readonly Rows[];
  /** The index of the statement whose messages arrive. */
  #current = 0;
  #fault: unknown;
  /** The driver puts its time limit in front of it. */
  callback: (error: unknown, results?: readonly Rows[]) => void;

  constructor(statements: readonly Statement[], callback: Pipeline['callback']) {
    this.statements = statements;
    this.#results = statements.map(() => new Result());
    this.callback = callback;
  }

  /** The same statements after others. */
  after(statements: readonly Statement[]): Pipeline {
    return new Pipeline([...statements, ...this.statements], (error, results) =>
      this.callback(error, results?.slice(statements.length)),
    );
  }

  /** The same statements without their names. */
  unnamed(): Pipeline {
    const statements = this.statements.map((statement) => ({ ...statement, name: '' }));
    return new Pipeline(statements, (error, results) => this.callback(error, results));
  }

  /** The driver gives the first result its parsers. */
  get _result(): Rows | undefined {
    return this.#results[0];
  }

  /** The driver remembers by these what is prepared. */
  get name(): string | undefined {
    return this.statements[this.#current]?.name;
  }

  get text(): string | undefined {
    return this.statements[this.#current]?.text;
  }

  submit(given: pg.Connection): void {
    const connection = given as unknown as Connection;
    const { stream } = connection;
    for (const result of this.#results) result._types = this._result!._types;
    stream.cork();
    try {
      for (const statement of this.statements) send(connection, statement);
    } catch (error) {
      // Only making the data of a COPY may fail.
      this.#fault = error;
      connection.sendCopyFail('the data could not be made');
    }
    connection.sync();
    stream.uncork();
  }

  handleRowDescription({ fields }: { readonly fields: unknown }): void {
    this.#results[this.#current]!.addFields(fields);
  }

  handleDataRow({ fields }: { readonly fields: unknown }): void {
    const result = this.#results[this.#current]!;
    result.addRow(result.parseRow(fields));
  }

  /** Its data were sent already. After an error they are skipped. */
  handleCopyInResponse(): void {}

  handleCommandComplete(message: unknown): void {
    this.#results[this.#current]!.addCommandComplete(message);
    this.#current += 1;
  }

  handleReadyForQuery(): void {
    try {
      this.#check();
    } catch (error) {
      this.callback(error);
      return;
    }
    this.callback(null, this.#results);
  }

  handleError(error: unknown, given: pg.Connection): void {
    const { submittedNamedStatements } = given as unknown as Connection;
    // PostgreSQL has skipped the statements after the one that failed, and so their preparation.
    for (const { name } of this.statements.slice(this.#current)) delete submittedNamedStatements[name];
    const { explain } = this.statements[this.#current] ?? {};
    try {
      this.#check();
    } catch (refusal) {
      this.callback(refusal);
      return;
    }
    this.callback(this.#fault ?? (explain ? explain(error) : error));
  }

  /** Checks the statements that have succeeded. */
  #check(): void {
    for (const [at, { check }] of this.statements.slice(0, this.#current).entries())
      check?.(this.#results[at]!.rows);
  }
}

function send(connection: Connection, { name, text, values = [], copyData }: Statement): void {
  const { stream, parsedStatements, submittedNamedStatements } = connection;
  if (parsedStatements[name] === undefined && submittedNamedStatements[name] === undefined) {
    connection.parse({ name, text });
    if (name !== '') submittedNamedStatements[name] = text;
  }
  connection.bind({ statement: name, values, valueMapper: utils.prepareValue });
  connection.describe({ type: 'P' });
  connection.execute();
  if (!copyData) return;
  for (const message of copyData) {
    stream.write(message);
    // PostgreSQL stores these rows while the next ones are made.
    stream.uncork();
    stream.cork();
  }
  connection.endCopyFrom();
}
