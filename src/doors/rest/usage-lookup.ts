/** `POST /v1/usage/lookup`: which ids were charged, for relays that reconcile. */
import { type Static, Type } from '../../base/lib/schema.ts';
import { renderAmount } from '../../money/amount.ts';
import { type LookedUp, lookUpRecords } from '../../money/usage/lookup-records.ts';
import { RECORD_ID_MAX, RECORDS_MAX } from '../../money/usage/usage-record.ts';
import type { Deps } from '../deps.ts';
import { answers, described } from '../http/answers.ts';
import type { Http } from '../http/http.ts';
import { callerOf, requireKey } from './auth.ts';
import { AmountSchema, body, time, words } from './schemas.ts';

/** Rendered without a pause. */
const RECORDS_PER_SLICE = 250;

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

export function usageLookupRoute(app: Http, deps: Deps): void {
  app.post(
    '/v1/usage/lookup',
    {
      onRequest: requireKey(deps, 'relay'),
      config: { isHeavy: true },
      schema: {
        tags: ['Usage'],
        operationId: 'lookUpUsage',
        summary: 'Which ids were charged',
        description: 'For a relay that lost track of what was answered. It changes nothing.',
        security: [{ relay_key: [] }],
        body: body({
          ids: Type.Array(Type.String({ minLength: 1, maxLength: RECORD_ID_MAX }), {
            maxItems: RECORDS_MAX,
            description: 'Ids of records',
          }),
        }),
        response: answers(
          {
            200: Type.Object(
              { records: Type.Array(LookedUpSchema, { description: 'In the order of `ids`' }) },
              { description: 'Every id' },
            ),
          },
          401,
          408,
        ),
      },
    },
    async (request, reply) => {
      const { tenant } = callerOf(request);
      const records = await lookUpRecords(deps.db, tenant, request.body.ids);
      const render = (slice: readonly LookedUp[]) =>
        String(reply.serialize({ records: slice.map(renderLookedUp) }));
      const text = await deps.heavyReads.inSlices(tenant, renderInSlices(records, render));
      // It is the body already, which the types of a route do not know.
      return reply.type('application/json; charset=utf-8').send(text as never);
    },
  );
}

/** The answer with all records, by what renders the one with some. */
function* renderInSlices(
  records: readonly LookedUp[],
  render: (slice: readonly LookedUp[]) => string,
): Generator<void, string> {
  const [begin, end] = render([]).split('[]') as [string, string];
  const texts: string[] = [];
  for (let at = 0; at < records.length; at += RECORDS_PER_SLICE) {
    texts.push(render(records.slice(at, at + RECORDS_PER_SLICE)).slice(begin.length + 1, -end.length - 1));
    yield;
  }
  return `${begin}[${texts.join(',')}]${end}`;
}

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
