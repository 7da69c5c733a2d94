/** Erasures of people: each lasts from its request until the work in the background is done, and changes nothing that comes later. */
import { tenantOf } from './database.ts';
import type { Facts } from './facts.ts';
import { faultTimes, lasts } from './faults.ts';
import { type Entry, endOf } from './journal.ts';
import { withoutRepetitions } from './repetitions.ts';

const MICROS_OF_A_SECOND = 1_000_000;

/** Who is erased: a name of a tenant. */
export const personOf = ({ args }: Entry) => JSON.stringify([args.tenant, args.username]);

/** Those that may have happened, with the time when they were done as their end; `null`: it is not known. */
export async function erasuresOf(facts: Facts): Promise<ReadonlyMap<string, readonly Entry[]>> {
  const asked = withoutRepetitions(facts.of('erasure.request')).filter(
    ({ outcome }) => outcome !== 'refused',
  );
  const took = asked.some(({ answer }) => answer?.id !== undefined) ? await readTimes(facts) : new Map();
  const faults = faultTimes(facts);
  return Map.groupBy(
    asked.map((entry): Entry => {
      const tookUs: number | undefined = took.get(entry.answer?.id);
      if (tookUs === undefined) return { ...entry, returnedUs: null };
      const doneUs = endOf(entry) + tookUs;
      const moreUs = lasts(faults, [entry.invokedUs, endOf(entry)], [entry.invokedUs, doneUs]);
      return { ...entry, returnedUs: doneUs + moreUs };
    }),
    personOf,
  );
}

/** How long each one took that is done, by the clock of PostgreSQL. */
async function readTimes(facts: Facts): Promise<ReadonlyMap<string | undefined, number>> {
  const rows = await facts.db.rows(
    `select id, extract(epoch from finished_at - created_at) as seconds from erasures
      where ${tenantOf('tenant_id')} = any ($1) and finished_at is not null`,
    [[...facts.tenants]],
  );
  return new Map(
    rows.map(({ id, seconds }) => [id!, Math.max(0, Number(seconds)) * MICROS_OF_A_SECOND] as const),
  );
}
