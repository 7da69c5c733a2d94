/** `POST /v1/usage/lookup`: which ids were charged, for relays that reconcile. */

import { described, type Static, Type, time, words } from '../../base/lib/schema.ts';
import { renderAmount } from '../../money/amount.ts';
import { AmountSchema } from '../../money/amount-schema.ts';
import { RECORD_ID_MAX, RECORDS_MAX } from '../../money/records/usage-record.ts';
import { type LookedUp, lookUpRecords } from '../../money/usage/lookup-records.ts';
import { plain } from './route.ts';
import { strictObject } from './schemas.ts';
import { renderInSlices } from './slices.ts';

const OUTCOMES = ['charged', 'unbilled', 'unknown'] as const;

const LookedUpSchema = Type.Object(
  {
    id: Type.String({ description: 'As asked' }),
    outcome: words(OUTCOMES, {
      description:
        '`unbilled`: accepted while the tenant was exempt; `unknown`: never accepted, so report it',
    }),
    total: Type.Optional(
      described(AmountSchema, 'What it cost, or would have cost if it is unbilled. Absent: it is unknown'),
    ),
    at: Type.Optional(time('When it was charged. Absent: it is unknown')),
  },
  { description: 'What became of one id' },
);

export const usageLookupRoute = plain(
  {
    path: 'POST /v1/usage/lookup',
    key: 'relay',
    closedTo: 'none',
    queue: 'heavy reads',
    tag: 'Usage',
    operation: 'lookUpUsage',
    summary: 'Which ids were charged',
    description: 'For a relay that lost track of what was answered. It changes nothing.',
    body: strictObject({
      ids: Type.Array(Type.String({ minLength: 1, maxLength: RECORD_ID_MAX }), {
        maxItems: RECORDS_MAX,
        description: 'Ids of records',
      }),
    }),
    answer: {
      200: Type.Object(
        { records: Type.Array(LookedUpSchema, { description: 'In the order of `ids`' }) },
        { description: 'Every id' },
      ),
    },
  },
  async ({ deps, caller, body, reply }) => {
    const { tenant } = caller;
    const records = await lookUpRecords(deps.db, tenant, body.ids);
    const render = (slice: readonly LookedUp[]) =>
      String(reply.serialize({ records: slice.map(renderLookedUp) }));
    const text = await deps.heavyReads.inSlices(caller, renderInSlices(records, render));
    // It is the body already, which the types of a route do not know.
    return reply.type('application/json; charset=utf-8').send(text as never);
  },
);

function renderLookedUp({ id, found }: LookedUp): Static<typeof LookedUpSchema> {
  if (!found) return { id, outcome: 'unknown' };
  const { isUnbilled, amount, at } = found;
  return {
    id,
    outcome: isUnbilled ? 'unbilled' : 'charged',
    total: renderAmount(amount),
    at: at.toISOString(),
  };
}
