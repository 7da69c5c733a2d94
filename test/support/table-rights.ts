/** What a role may do with each table. */
import type { Db } from '../../src/base/db/pool.ts';

/** By the name of the table, such as `INSERT SELECT`. Rights on single columns are left out. */
export async function tableRightsOf(db: Db, role: string): Promise<Readonly<Record<string, string>>> {
  const { rows } = await db.query<{ name: string; rights: string }>(
    `select table_name as name, string_agg(privilege_type, ' ' order by privilege_type) as rights
       from information_schema.role_table_grants where grantee = $1 group by 1`,
    [role],
  );
  return Object.fromEntries(rows.map((row) => [row.name, row.rights]));
}
