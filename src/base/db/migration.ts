/** What the name and the text of a migration say: beside which versions it may run, and how. */

export interface Migration {
  readonly name: string;
  /** What runs. */
  readonly sql: string;
  /** That of the file for one server, in any case. */
  readonly checksum: string;
}

/**
 * `0081_needs_0079_drop_sums.sql` takes away what versions without 0079 use. Every other migration leaves the versions before it what
 * they use.
 */
const NEEDS = /^[0-9]{4}_needs_(?<needed>[0-9]{4})_/;

/** The number of the migration that a version needs to run on a database with this one. */
export function neededBy(name: string): string | undefined {
  const { needed } = NEEDS.exec(name)?.groups ?? {};
  return needed;
}

const CONCURRENTLY = /^create (?:unique )?index concurrently (?<index>\w+) on [^;]+;?$/;

/** The index that a file creates while others write. Such a file has no other statement. */
export function indexOf({ sql }: Pick<Migration, 'sql'>): string | undefined {
  const { index } = CONCURRENTLY.exec(sql.replaceAll(/--.*/g, '').trim())?.groups ?? {};
  return index;
}
