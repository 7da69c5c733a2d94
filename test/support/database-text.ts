/** The whole content of a database as text, to look for what must not be in it. */
import type { Pool } from '../../src/base/db/pool.ts';

export async function databaseText(db: Pool): Promise<string> {
  const tables = await db.query<{ name: string }>(
    "select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'",
  );
  const rows = await Promise.all(
    tables.rows.map(({ name }) => db.query<{ row: string }>(`select ${name}::text as row from ${name}`)),
  );
  return rows.flatMap((each) => each.rows.map(({ row }) => row)).join('\n');
}

/** The forms in which a secret in base64url could be in a database. */
export function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret, 'base64url');
  return [secret, Buffer.from(secret).toString('hex'), bytes.toString('hex'), bytes.toString('base64')];
}
