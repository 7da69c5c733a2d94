/** Whether anything was lost, doubled or misstated, by a check that shares nothing with the service, and by one in SQL. */
import { onLongConnection, openPool } from '../src/base/db/pool.ts';
import { showAllRecords } from '../test/support/all-records.ts';
import { checkLedger } from '../test/support/check-ledger.ts';
import { type Campaign, checkCampaign } from './check/check.ts';
import type { Progress } from './progress.ts';

export interface Judgement {
  /** One line for each. */
  readonly problems: readonly string[];
  /** How many things each rule has looked at. */
  readonly looked: Readonly<Record<string, number>>;
  /** `<rule>: <why>`, for what could not be looked at. */
  readonly notLooked: readonly string[];
}

/** The check in SQL holds all records in memory. */
const RECORDS_MAX = 500_000;

export async function judge(campaign: Campaign, progress: Progress): Promise<Judgement> {
  let current = '';
  progress.begin('checking', () => current);
  const {
    problems,
    looked,
    leftOut: notLooked,
  } = await checkCampaign(campaign, undefined, (what) => {
    current = what;
  });
  current = 'the ledger, in SQL';
  const db = openPool(campaign.databaseUrl, { max: 1 });
  try {
    return await onLongConnection(db, async (client) => {
      const { rows } = await client.query<{ count: number }>(
        'select sum(records)::int as count from postings',
      );
      const records = rows[0]!.count ?? 0;
      if (records > RECORDS_MAX) {
        const why = `the ledger, in SQL: ${records} records, of which it can hold ${RECORDS_MAX}`;
        return { problems, looked, notLooked: [...notLooked, why] };
      }
      // Workers share memory in /dev/shm, of which a container may have very little.
      await client.query('set max_parallel_workers_per_gather = 0');
      await client.query('analyze');
      await showAllRecords(client);
      const ofLedger = await checkLedger(client);
      return {
        problems: [...problems, ...ofLedger],
        looked: { ...looked, 'the ledger, in SQL': records },
        notLooked,
      };
    });
  } finally {
    await db.end();
  }
}
