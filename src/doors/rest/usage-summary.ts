/** `GET /v1/usage/summary`: sums of usage, from the ledger or, by participant, key and customer, from sessions. */

import { invalidField } from '../../base/failure.ts';
import { readPageToken, renderPageToken } from '../../base/lib/page-token.ts';
import { described, type Static, Type, time, words } from '../../base/lib/schema.ts';
import {
  SESSION_GROUPINGS,
  SESSION_SPANS,
  type SessionGrouping,
  type SessionSpan,
  type SessionSumsRow,
} from '../../control/sessions/session-sums.ts';
import { summarizeSessions } from '../../control/sessions/summarize-sessions.ts';
import { AmountSchema } from '../../money/amount-schema.ts';
import { type Calendar, IN_UTC } from '../../money/calendar/calendar.ts';
import { getCalendar } from '../../money/calendar/get-calendar.ts';
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
  TIME_GROUPINGS,
} from '../../money/usage/usage-summary.ts';
import { CursorSchema, nextCursor, noSuchPage } from './paging.ts';
import {
  limitField,
  type Period,
  parseLimit,
  parseWholeDays,
  parseWholeHours,
  periodFields,
} from './query.ts';
import { plain } from './route.ts';

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

export const UsageSumsSchema = Type.Object(measures, { description: 'Sums of usage' });

const ALL_GROUPINGS = [...GROUPINGS, ...SESSION_GROUPINGS] as const;
type AnyGrouping = (typeof ALL_GROUPINGS)[number];

const RowSchema = Type.Object(
  {
    hour: Type.Optional(time('Start of the hour. Only if grouped by hour')),
    day: Type.Optional(time('Start of the day in the time zone of the tenant. Only if grouped by day')),
    month: Type.Optional(
      Type.String({ description: 'The month there, such as `2026-11`. Only if grouped by month' }),
    ),
    room: Type.Optional(
      Type.String({ description: 'As reported; empty for records without one. Only if grouped by room' }),
    ),
    role: Type.Optional(words(ROLES, { description: 'Only if grouped by role' })),
    tier: Type.Optional(words(TIERS, { description: 'Only if grouped by tier' })),
    participant: Type.Optional(
      Type.String({
        description: 'The username; `(erased)` after an erasure. Only if grouped by participant',
      }),
    ),
    key: Type.Optional(
      Type.String({
        description:
          'The id of the API key or device credential that admitted the participant first; empty if it is not ' +
          'known. Only if grouped by key',
      }),
    ),
    customer: Type.Optional(
      Type.String({
        description:
          'The label that the mint named; empty for sessions without one. Only if grouped by customer',
      }),
    ),
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
      'hour, day or month, rows are in the order of time; otherwise those that were charged most come first. Without ' +
      'usage there is no row. Sums by `participant`, `key` and `customer` are those of sessions, of whole days (UTC): ' +
      'what belongs to no session, or was charged seconds ago, is `unassigned`. Rows and `unassigned` equal `sum`, ' +
      'which has every charge.',
    query: Type.Object({
      group_by: Type.Optional(
        Type.String({
          description:
            `Of \`${ALL_GROUPINGS.join('`, `')}\`, separated by commas; one of the first three at most, and of the last three ` +
            'one alone, or with `day` or `month`',
          examples: ['day,room', 'month,customer'],
        }),
      ),
      ...periodFields,
      from: Type.Optional(
        Type.String({
          description:
            'Start of the period: a day of the time zone of the tenant, or a whole hour such as `2026-11-01T00:00:00Z`',
        }),
      ),
      room: Type.Optional(
        Type.String({
          maxLength: RECORD_TEXT_MAX,
          description: 'Only this room; empty: only records without one. Not for sums of sessions',
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
          sum: described(UsageSumsSchema, 'Of all groups and `unassigned`, on every page'),
          unassigned: Type.Optional(
            described(
              UsageSumsSchema,
              'Usage that belongs to no session, or is not assigned yet. Only for sums of sessions',
            ),
          ),
          assigned_until: Type.Optional(
            time('Usage that was charged before this time is assigned. Only for sums of sessions'),
          ),
          ...nextCursor,
        },
        { description: 'A page of groups' },
      ),
    },
    parse: ({ query }) => {
      const groupBy = parseGroupBy(query.group_by);
      const page = {
        limit: parseLimit(query.limit, SUMMARY_ROWS_MAX, ROWS_USUAL),
        skip: parseSkip(query.cursor),
      };
      const ofSessions = parseSessionGroups(groupBy);
      if (ofSessions) {
        if (query.room !== undefined) throw invalidField('room', `is not for sums by ${ofSessions.by}`);
        return { ofSessions, ...parseWholeDays(query, SUMMARY_DAYS_MAX), ...page };
      }
      const rooms = query.room === undefined ? undefined : [query.room];
      return { ofSessions, groupBy: groupBy as Grouping[], rooms, ...page };
    },
  },
  async ({ deps, caller, query, input }) => {
    const { limit, skip } = input;
    const render = ({ from, to }: Period, hasMore: boolean) => ({
      from: from.toISOString(),
      to: to.toISOString(),
      ...(hasMore && { next_cursor: renderPageToken([String(skip + limit)]) }),
    });
    if (input.ofSessions) {
      const { ofSessions, from, to } = input;
      const asked = { ...ofSessions, names: undefined, from, to, limit, skip };
      const found = await summarizeSessions(deps.db, caller.tenant, asked);
      return {
        ...render(input, found.hasMore),
        rows: found.rows.map((row) => renderSessionsRow(row, ofSessions)),
        sum: renderMeasures(found.total),
        unassigned: renderMeasures(found.unassigned),
        assigned_until: found.assignedUntil.toISOString(),
      };
    }
    const calendar = await getCalendar(deps.db, caller.tenant);
    const period = parseWholeHours(query, SUMMARY_DAYS_MAX, calendar);
    const summary = await summarizeUsage(deps.db, caller.tenant, { ...input, ...period, calendar });
    return {
      ...render(period, summary.hasMore),
      rows: summary.rows.map((row) => renderRow(row, input.groupBy, calendar)),
      sum: renderMeasures(summary.total),
    };
  },
);

function parseGroupBy(text: string | undefined): AnyGrouping[] {
  if (text === undefined) return [];
  const asked = text.split(',');
  const unknown = asked.find((each) => !ALL_GROUPINGS.includes(each as AnyGrouping));
  if (unknown !== undefined) {
    throw invalidField('group_by', `must be of ${ALL_GROUPINGS.join(', ')}, separated by commas`);
  }
  if (new Set(asked).size < asked.length) throw invalidField('group_by', 'must name each grouping once');
  if (TIME_GROUPINGS.filter((each) => asked.includes(each)).length > 1) {
    throw invalidField('group_by', `must have one of ${TIME_GROUPINGS.join(', ')} at most`);
  }
  return ALL_GROUPINGS.filter((each) => asked.includes(each));
}

interface SessionGroups {
  readonly by: SessionGrouping;
  readonly every: SessionSpan | undefined;
}

/** `undefined`: the sums are not those of sessions. */
function parseSessionGroups(groupBy: readonly AnyGrouping[]): SessionGroups | undefined {
  const by = SESSION_GROUPINGS.find((each) => groupBy.includes(each));
  if (!by) return undefined;
  const every = SESSION_SPANS.find((each) => groupBy.includes(each));
  if (groupBy.length > (every ? 2 : 1)) {
    throw invalidField('group_by', `must have ${by} alone, or with ${SESSION_SPANS.join(' or ')}`);
  }
  return { by, every };
}

function parseSkip(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const [skip = '', ...others] = readPageToken(cursor) ?? [];
  if (!/^[1-9][0-9]{0,8}$/.test(skip) || others.length > 0) throw noSuchPage();
  return Number(skip);
}

function renderRow(
  row: SummaryRow,
  groupBy: readonly Grouping[],
  calendar: Calendar,
): Static<typeof RowSchema> {
  const { room, role, tier } = row;
  return {
    ...renderTime(row, groupBy, calendar),
    ...(room !== undefined && { room }),
    ...(role && { role }),
    ...(tier && { tier }),
    ...renderMeasures(row),
  };
}

function renderSessionsRow(row: SessionSumsRow, { by, every }: SessionGroups): Static<typeof RowSchema> {
  return { ...renderTime(row, [every], IN_UTC), [by]: row.name, ...renderMeasures(row) };
}

/** The start of an hour or day, or the month, by what the row is of. */
function renderTime(
  { time: start }: { readonly time?: Date },
  groupBy: readonly unknown[],
  calendar: Calendar,
) {
  if (!start) return {};
  if (groupBy.includes('month')) return { month: calendar.monthOf(start) };
  return { [groupBy.includes('hour') ? 'hour' : 'day']: start.toISOString() };
}
