/** Sums of the records of postings, wherever the records lie. */
import { expect, test } from 'vitest';
import { runTogether } from '../../../src/base/db/pipeline.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { tierOf } from '../../../src/money/pricing/role-codes.ts';
import { eraseInRecords } from '../../../src/money/records/erase-in-records.sql.ts';
import { sumByParticipant } from '../../../src/money/records/sum-by-participant.ts';
import { nextPostings } from '../../../src/money/usage/posted-usage.sql.ts';
import { manyRecords, report } from '../../doors/rest/ledger-routes.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService();
const db = () => app.service.deps.db;

interface Sum {
  readonly seq: bigint;
  readonly room: string | null;
  readonly participant: string | null;
  readonly tier: string;
  readonly measures: readonly unknown[];
}

const inOrder = (sums: readonly Sum[]) =>
  sums
    .map(({ seq, room, participant, tier, measures }) => [[seq, room, participant, tier].join(), measures])
    .sort(([one], [other]) => (one! < other! ? -1 : 1));

/** The sums of all postings, in one go. */
async function summed(tenant: TestTenant) {
  const sums = await inTransaction(db(), async (tx) => {
    // Without its name: the job that assigns usage may have prepared it on this connection, with another beginning.
    const finding = { ...nextPostings(idOf(tenant), '0', 1_000_000), name: '' };
    const [postings] = await runTogether(tx, [finding]);
    return sumByParticipant(tx, idOf(tenant), postings);
  });
  expect(sums.map(({ seq }) => seq)).toEqual(sums.map(({ seq }) => seq).sort((a, b) => Number(a - b)));
  return inOrder(
    sums.map(({ records, seconds, longest, egressBytes, ingressBytes, amount, ...names }) => {
      return {
        ...names,
        measures: [records, seconds, longest, egressBytes, ingressBytes, amount].map(String),
      };
    }),
  );
}

async function stored(tenant: TestTenant) {
  const { rows } = await db().query<Sum>(
    `select posting_seq as seq, room, participant, tier, array[count(*), sum(seconds), max(seconds), sum(egress_bytes),
            sum(ingress_bytes), sum(amount)]::text[] as measures
       from usage_records where tenant_id = $1 group by posting_seq, room, participant, tier`,
    [idOf(tenant)],
  );
  return inOrder(rows.map((row) => ({ ...row, tier: tierOf(row.tier) })));
}

test('all records of a posting are summed, whether they lie together, far apart, or were moved', async () => {
  const [tenant, other] = [await app.paidTenant(), await app.paidTenant()];
  for (const count of [3, 400, 60, 1, 700]) {
    await report(app, tenant, manyRecords(count));
    await report(app, other, manyRecords(count + 51));
  }
  await report(app, tenant, manyRecords(4_000));
  expect(await summed(tenant)).toEqual(await stored(tenant));
  expect(await summed(other)).toEqual(await stored(other));

  // Their new versions lie behind the others.
  await eraseInRecords(db(), idOf(tenant), '', ['user-1', 'user-2']);
  expect(await summed(tenant)).toEqual(await stored(tenant));
});

test('by room, postings and participants are not told apart, and kinds are', async () => {
  const tenant = await app.paidTenant();
  for (const count of [3, 50, 1]) await report(app, tenant, manyRecords(count));
  const byRoom = await inTransaction(db(), async (tx) => {
    const [postings] = await runTogether(tx, [{ ...nextPostings(idOf(tenant), '0', 1_000_000), name: '' }]);
    return sumByParticipant(tx, idOf(tenant), postings, true);
  });
  expect(byRoom.every(({ participant }) => participant === null)).toBe(true);
  const { rows } = await db().query(
    `select coalesce(room, '') as room, tier, max(posting_seq)::text as seq, count(*)::text as records, max(seconds) as longest,
            sum(amount)::text as amount from usage_records where tenant_id = $1 group by room, tier`,
    [idOf(tenant)],
  );
  const inNames = (one: { room: string; tier: string }, other: { room: string; tier: string }) =>
    `${one.room} ${one.tier}` < `${other.room} ${other.tier}` ? -1 : 1;
  expect(
    byRoom
      .map(({ room, tier, seq, records, longest, amount }) => ({
        ...{ room: room ?? '', tier, seq: String(seq), records: String(records), longest },
        amount: String(amount),
      }))
      .sort(inNames),
  ).toEqual(rows.map((row) => ({ ...row, tier: tierOf(row.tier) })).sort(inNames));
});
