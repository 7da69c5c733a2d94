/** Reads the rows of a query of any size in constant memory. */
import type { Db } from './pool.ts';

const PAGE_ROWS = 2_000;

/** The rows in pages. Needs a transaction, with one such read at a time. */
export async function* readByCursor<Row extends object>(
  db: Db,
  select: string,
  values: unknown[] = [],
): AsyncGenerator<readonly Row[]> {
  await db.query(`declare pages no scroll cursor for ${select}`, values);
  for (;;) {
    const { rows } = await db.query<Row>(`fetch ${PAGE_ROWS} from pages`);
    if (rows.length === 0) break;
    yield rows;
  }
  await db.query('close pages');
}
