/** What became of the automatic top-ups of a campaign. */
import type { Pool } from '../src/base/db/pool.ts';

/** How many of each state there are, also of those that were sent again, or with another key. */
export type TopUpCounts = Readonly<Record<string, number>>;

export async function countTopUps(db: Pool): Promise<TopUpCounts> {
  const { rows } = await db.query<{ name: string; count: number }>(
    `select state || case when keys > 1 then ', with another key' when resent_at is not null then ', sent again'
                          when first_sent_at is null then ', never sent' else '' end as name,
            count(*)::int as count
       from top_up_attempts group by 1 order by 1`,
  );
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}
