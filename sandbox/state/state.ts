/**
 * The tables of the sandbox, in memory, with a journal on disk when a folder is given.
 *
 * Rows are never changed in place: a change writes a new row. That keeps an event's snapshot,
 * the journal and the rollback of a failed request simple.
 */
import type { Line, Write } from './journal.ts';
import { Journal } from './journal.ts';
import { emptyTables, type Row, type TableName } from './tables.ts';

export class State {
  readonly #tables = emptyTables();
  readonly #journal: Journal | undefined;
  #sequence = 0;
  #transaction: { writes: Write[]; undo: Array<() => void> } | undefined;

  /** Without a folder, nothing is kept after the process ends. */
  constructor(folder: string | undefined) {
    if (folder === undefined) return;
    this.#journal = new Journal(folder);
    for (const line of this.#journal.read()) this.#replay(line);
    this.#journal.compact(this.#sequence, this.#everything());
  }

  /** A number that no identifier has used before, even across restarts. */
  nextSequence(): number {
    this.#sequence += 1;
    return this.#sequence;
  }

  get<T extends TableName>(table: T, id: string): Row<T> | undefined {
    return this.#tables[table].get(id);
  }

  /** Every row of a table, oldest first. */
  all<T extends TableName>(table: T): Row<T>[] {
    return [...this.#tables[table].values()];
  }

  put<T extends TableName>(table: T, row: Row<T>): Row<T> {
    this.#write(table, row.id, row);
    return row;
  }

  /** Write a row with some of its fields changed. */
  change<T extends TableName>(table: T, id: string, fields: Partial<Row<T>>): Row<T> {
    const row = this.get(table, id);
    if (row === undefined) throw new Error(`no row ${id} in ${table}`);
    return this.put(table, { ...row, ...fields });
  }

  delete(table: TableName, id: string): void {
    this.#write(table, id, null);
  }

  /** Run `work`. If it throws, all its writes are rolled back. */
  transaction<T>(work: () => T): T {
    if (this.#transaction !== undefined) return work();
    const transaction = { writes: [] as Write[], undo: [] as Array<() => void> };
    this.#transaction = transaction;
    try {
      const result = work();
      if (transaction.writes.length > 0) {
        this.#journal?.append({ sequence: this.#sequence, writes: transaction.writes });
      }
      return result;
    } catch (error) {
      for (const undo of transaction.undo.reverse()) undo();
      throw error;
    } finally {
      this.#transaction = undefined;
    }
  }

  close(): void {
    this.#journal?.close();
  }

  #write(table: TableName, id: string, row: Row<TableName> | null): void {
    this.transaction(() => {
      const rows = this.#tables[table] as Map<string, Row<TableName>>;
      const before = rows.get(id);
      this.#transaction?.undo.push(() => restore(rows, id, before ?? null));
      this.#transaction?.writes.push([table, id, row]);
      restore(rows, id, row);
    });
  }

  #replay(line: Line): void {
    this.#sequence = Math.max(this.#sequence, line.sequence);
    for (const [table, id, row] of line.writes) {
      const rows = this.#tables[table as TableName] as Map<string, Row<TableName>> | undefined;
      if (rows !== undefined) restore(rows, id, row as Row<TableName> | null);
    }
  }

  #everything(): Write[] {
    return Object.entries(this.#tables).flatMap(([table, rows]) =>
      [...rows.values()].map((row): Write => [table, row.id, row]),
    );
  }
}

function restore<R>(rows: Map<string, R>, id: string, row: R | null): void {
  if (row === null) rows.delete(id);
  else rows.set(id, row);
}
