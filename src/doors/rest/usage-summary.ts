/** `GET /v1/usage/summary`: sums of usage. */
import { invalidField } from '../../base/failure.ts';
import { readPageToken, renderPageToken } from '../../base/lib/page-token.ts';
import { type Static, Type } from '../../base/lib/schema.ts';
import { RECORD_TEXT_MAX } from '../../money/ledger/posting.ts';
import { ROLES, TIERS } from '../../money/pricing/role.ts';
import { summarizeUsage } from '../../money/usage/summarize-usage.ts';
import {
  GROUPINGS,
  type Grouping,
  renderMeasures,
  SUMMARY_DAYS_MAX,
  SUMMARY_ROWS_MAX,
  type SummaryRow,
} from '../../money/usage/usage-summary.ts';
import { described } from '../http/answers.ts';
import { CursorSchema, nextCursor, noSuchPage } from './paging.ts';
import { limitField, parseLimit, parseWholeHours, periodFields } from './query.ts';
import { plain } from './route.ts';
import { AmountSchema, time, words } from './schemas.ts';

const ROWS_USUAL = 100;

export const count = (description: string) => Type.Unsafe<bigint>({ type: 'integer', description });
/** A sum of integers of 53 bits, as many as there are records. JSON has it in full, and readers need a type that holds it. */
const bytes = (description: string) =>
  Type.Unsafe<bigint>({
    type: 'integer',
    format: 'bigint',
    minimum: 0,
    description: `${description}. May exceed 64 bits`,
  });

export const measures = {
  records: count('Records, charged and unbilled'),
  seconds: count('Seconds that participants were connected'),
  egress_bytes: bytes('Bytes sent to participants'),
  ingress_bytes: bytes('Bytes received from participants'),
  total: described(AmountSchema, 'What was charged'),
  unbilled: described(AmountSchema, 'What would have been charged, while the tenant was exempt'),
};

const RowSchema = Type.Object(
  {
    hour: Type.Optional(time('Start of the hour, UTC. Only if grouped by hour')),
    day: Type.Optional(time('Start of the day, UTC. Only if grouped by day')),
    room: Type.Optional(
      Type.String({ description: 'As reported; empty for records without one. Only if grouped by room' }),
    ),
    role: Type.Optional(words(ROLES, { description: 'Only if grouped by role' })),
    tier: Type.Optional(words(TIERS, { description: 'Only if grouped by tier' })),
    ...measures,
  },
  { description: 'One group' },
);

export const usageSummaryRoute = plain(
  {
    path: 'GET /v1/usage/summary',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'heavy reads',
    tag: 'Usage',
    operation: 'summarizeUsage',
    summary: 'Sums of usage over a period',
    description:
      'By the hour in which usage was charged. Every charge is in the sums as soon as it is answered. Grouped by ' +
      'hour or day, rows are in the order of time; otherwise those that were charged most come first. Without usage ' +
      'there is no row.',
    query: Type.Object({
      group_by: Type.Optional(
        Type.String({
          description: `Of \`${GROUPINGS.join('`, `')}\`, separated by commas; \`hour\` or \`day\`, not both`,
          examples: ['day,room'],
        }),
      ),
      ...periodFields,
      room: Type.Optional(
        Type.String({
          maxLength: RECORD_TEXT_MAX,
          description: 'Only this room; empty: only records without one',
        }),
      ),
      limit: limitField(SUMMARY_ROWS_MAX, ROWS_USUAL),
      ...CursorSchema.properties,
    }),
    answer: {
      200: Type.Object(
        {
          from: time('Start of the period'),
          to: time('End of the period'),
          rows: Type.Array(RowSchema, { description: 'The groups' }),
          sum: Type.Object(measures, { description: 'Of all groups, on every page' }),
          ...nextCursor,
        },
        { description: 'A page of groups' },
      ),
    },
    parse: ({ query }) => ({
      groupBy: parseGroupBy(query.group_by),
      ...parseWholeHours(query, SUMMARY_DAYS_MAX),
      rooms: query.room === undefined ? undefined : [query.room],
      limit: parseLimit(query.limit, SUMMARY_ROWS_MAX, ROWS_USUAL),
      skip: parseSkip(query.cursor),
    }),
  },
  async ({ deps, caller, input }) => {
    const { groupBy, from, to, limit, skip } = input;
    const summary = await summarizeUsage(deps.db, caller.tenant, input);
    return {
      from: from.toISOString(),
      to: to.toISOString(),
      rows: summary.rows.map((row) => renderRow(row, groupBy)),
      sum: renderMeasures(summary.total),
      ...(summary.hasMore && { next_cursor: renderPageToken([String(skip + limit)]) }),
    };
  },
);

function parseGroupBy(text: string | undefined): Grouping[] {
  if (text === undefined) return [];
  const asked = text.split(',');
  const unknown = asked.find((each) => !GROUPINGS.includes(each as Grouping));
  if (unknown !== undefined) {
    throw invalidField('group_by', `must be of ${GROUPINGS.join(', ')}, separated by commas`);
  }
  if (new Set(asked).size < asked.length) throw invalidField('group_by', 'must name each grouping once');
  const chosen = GROUPINGS.filter((each) => asked.includes(each));
  if (chosen.includes('hour') && chosen.includes('day')) {
    throw invalidField('group_by', 'must be by hour or by day, not both');
  }
  return chosen;
}

function parseSkip(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const [skip = '', ...others] = readPageToken(cursor) ?? [];
  if (!/^[1-9][0-9]{0,8}$/.test(skip) || others.length > 0) throw noSuchPage();
  return Number(skip);
}

function renderRow(row: SummaryRow, groupBy: readonly Grouping[]): Static<typeof RowSchema> {
  const { time: start, room, role, tier } = row;
  const named = groupBy.includes('hour') ? 'hour' : 'day';
  return {
    ...(start && { [named]: start.toISOString() }),
    ...(room !== undefined && { room }),
    ...(role && { role }),
    ...(tier && { tier }),
    ...renderMeasures(row),
  };
}
