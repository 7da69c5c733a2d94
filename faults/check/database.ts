/** The database of a campaign at rest, in one snapshot. */
import pg from 'pg';

/** A row, with numbers of 64 bits as texts. */
export type Row = Readonly<Record<string, string | null>>;

export class Database {
  readonly #client: pg.Client;

  /** The connection is in a transaction. */
  constructor(client: pg.Client) {
    this.#client = client;
  }

  /** `at`: when the campaign had settled, for `NOW`. */
  static async open(url: string, at = ''): Promise<Database> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    // Workers of a query share memory in /dev/shm, of which a container may have very little.
    await client.query(
      `begin isolation level repeatable read read only; set local timezone = 'UTC'; set local max_parallel_workers_per_gather = 0`,
    );
    await client.query(`select set_config('faults.at', $1, true)`, [at]);
    return new Database(client);
  }

  /** Each column as PostgreSQL writes it. */
  async rows(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const { rows } = await this.#client.query({
      text,
      values: [...values],
      types: { getTypeParser: () => (value: unknown) => value },
    });
    return rows as Row[];
  }

  /** Names of all tables but those that hold nothing of tenants, as SQL takes them. */
  async tables(): Promise<readonly string[]> {
    const rows = await this.rows(
      `select quote_ident(relname) as name from pg_class
        where relkind = 'r' and relnamespace = current_schema()::regnamespace and relname <> 'migrations'`,
    );
    return rows.map(({ name }) => name!);
  }

  async close(): Promise<void> {
    await this.#client.end();
  }
}

/** SQL of the time of the check: a campaign that is checked again later is judged as of its own time. */
export const NOW = `coalesce(nullif(current_setting('faults.at', true), '')::timestamptz, now())`;

/** SQL of the name of a tenant on the wire, which is its number in hex. */
export function tenantOf(column: string): string {
  return `'t_' || lpad(to_hex(${column}), 16, '0')`;
}

/** Whether PostgreSQL wrote this for `true`. */
export const isTrue = (value: string | null | undefined) => value === 't' || value === 'true';
