/** `GET /v1/usage/conflicts`: ids that were reported again with other values. */

import { type Static, Type, time } from '../../base/lib/schema.ts';
import type { Conflict, Report } from '../../money/usage/conflict.ts';
import { listConflicts } from '../../money/usage/list-conflicts.ts';
import { parseConflictPlace, renderConflictPlace } from '../http/conflict-place.ts';
import { CursorSchema, nextCursor } from './paging.ts';
import { limitField, parseLimit } from './query.ts';
import { plain } from './route.ts';

const CONFLICTS_USUAL = 100;
const CONFLICTS_MAX = 1_000;

const text = () => Type.Optional(Type.String({ description: 'As reported. Absent: there was none' }));

function reportSchema(description: string) {
  return Type.Object(
    {
      room: text(),
      participant: text(),
      role: Type.String({ description: 'As reported' }),
      tier: Type.String({ description: 'As reported' }),
      seconds: Type.Integer({ description: 'As reported' }),
      egress_bytes: Type.Integer({ format: 'int64', description: 'As reported' }),
      ingress_bytes: Type.Integer({ format: 'int64', description: 'As reported' }),
    },
    { description },
  );
}

const ConflictSchema = Type.Object(
  {
    id: Type.String({ description: 'The id of the record' }),
    times: Type.Integer({ description: 'How often it was reported with other values' }),
    first_at: time('When this happened first'),
    last_at: time('When this happened last'),
    charged: reportSchema('The first report, which was charged'),
    reported: reportSchema('The latest of the others, which were not charged'),
  },
  { description: 'An id that was reported again with other values' },
);

export const usageConflictsRoute = plain(
  {
    path: 'GET /v1/usage/conflicts',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'calls',
    tag: 'Usage',
    operation: 'listUsageConflicts',
    summary: 'Ids that were reported again with other values',
    description:
      'Newest report first. It usually means that a relay uses ids twice, and that the second use is not charged.',
    query: Type.Object({
      limit: limitField(CONFLICTS_MAX, CONFLICTS_USUAL),
      ...CursorSchema.properties,
    }),
    answer: {
      200: Type.Object(
        { conflicts: Type.Array(ConflictSchema, { description: 'The conflicts' }), ...nextCursor },
        { description: 'A page of them' },
      ),
    },
    parse: ({ query }, { tenant }) => ({
      size: parseLimit(query.limit, CONFLICTS_MAX, CONFLICTS_USUAL),
      after: parseConflictPlace(query.cursor, tenant),
    }),
  },
  async ({ deps, caller, input }) => {
    const page = await listConflicts(deps.db, caller.tenant, input);
    return {
      conflicts: page.conflicts.map(renderConflict),
      ...(page.place && { next_cursor: renderConflictPlace(caller.tenant, page.place) }),
    };
  },
);

function renderConflict({
  id,
  times,
  firstAt,
  lastAt,
  accepted,
  reported,
}: Conflict): Static<typeof ConflictSchema> {
  return {
    id,
    times,
    first_at: firstAt.toISOString(),
    last_at: lastAt.toISOString(),
    charged: renderReport(accepted),
    reported: renderReport(reported),
  };
}

function renderReport(report: Partial<Report>) {
  const { room, participant, role, tier, seconds, egress_bytes, ingress_bytes } = report;
  return {
    ...(typeof room === 'string' && { room }),
    ...(typeof participant === 'string' && { participant }),
    role: role!,
    tier: tier!,
    seconds: seconds!,
    egress_bytes: egress_bytes!,
    ingress_bytes: ingress_bytes!,
  };
}
