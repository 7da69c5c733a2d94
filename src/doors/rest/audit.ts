/** `GET /v1/audit`: who changed what. An addition to the specification. */
import { ACTOR_KINDS } from '../../base/audit/actor.ts';
import {
  ACTION_LENGTH_MAX,
  ACTION_PATTERN,
  ADDRESS_DAYS,
  type AuditEntry,
  ERASED_ADDRESS,
  isAuditId,
} from '../../base/audit/audit-entry.ts';
import { AUDIT_PAGE_MAX, AUDIT_PAGE_USUAL, listAudit } from '../../base/audit/list-audit.ts';
import { type Static, Type, time, words } from '../../base/lib/schema.ts';
import { CursorSchema, nextCursor, noSuchPage, parseCursor, renderCursor } from './paging.ts';
import { limitField, parseLimit, parsePeriod, periodFields } from './query.ts';
import { plain } from './route.ts';

const SUBJECT_LENGTH_MAX = 200;

const fields = (description: string, example: object) =>
  Type.Optional(
    Type.Unsafe<object>({ type: 'object', additionalProperties: true, description, examples: [example] }),
  );

const ActorSchema = Type.Object(
  {
    kind: words(ACTOR_KINDS, {
      description:
        '`key`: an API key; `member`: a person in the console; `operator`: of the deployment; `system`: the service itself',
    }),
    id: Type.Optional(
      Type.String({
        description: 'The id of the key, or the part of the service. Absent: an operator',
        examples: ['0f7e440556fe905a'],
      }),
    ),
    address: Type.Optional(
      Type.String({
        description: `From where the key was used, a member acted, or a log-in failed; \`${ERASED_ADDRESS}\` after ${ADDRESS_DAYS} days, or as many as the operator says`,
        examples: ['203.0.113.7'],
      }),
    ),
  },
  { description: 'Who made the change' },
);

const EntrySchema = Type.Object(
  {
    id: Type.String({ description: 'The id of the entry' }),
    at: time('When it happened'),
    actor: ActorSchema,
    action: Type.String({ description: 'What was done', examples: ['key_revoked'] }),
    subject: Type.Optional(
      Type.String({
        description: 'The id of what was changed. Absent: there is only one of it',
        examples: ['030061877dfbe540'],
      }),
    ),
    before: fields('What changed, as it was. Absent: there was nothing', { revoked_at: null }),
    after: fields('The same as it is now. Absent: there is nothing', {
      revoked_at: '2026-11-21T05:51:00.828Z',
    }),
  },
  { description: 'One change' },
);

export const auditRoute = plain(
  {
    path: 'GET /v1/audit',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'calls',
    tag: 'Audit',
    operation: 'listAudit',
    summary: 'Who changed what',
    description:
      'Newest first: changes of keys, device credentials, settings, limits, status and credit, requests to ' +
      'erase people, and log-ins to the console. An entry holds no secret. Entries are never changed, but for addresses that are too old.',
    query: Type.Object({
      action: Type.Optional(
        Type.String({
          pattern: ACTION_PATTERN,
          maxLength: ACTION_LENGTH_MAX,
          description: 'Only this action',
          examples: ['key_created'],
        }),
      ),
      subject: Type.Optional(
        Type.String({
          pattern: '^[^\\u0000]+$',
          maxLength: SUBJECT_LENGTH_MAX,
          description: 'Only changes of what has this id',
        }),
      ),
      ...periodFields,
      limit: limitField(AUDIT_PAGE_MAX, AUDIT_PAGE_USUAL),
      ...CursorSchema.properties,
    }),
    answer: {
      200: Type.Object(
        { entries: Type.Array(EntrySchema, { description: 'The entries' }), ...nextCursor },
        { description: 'A page of them' },
      ),
    },
    parse: ({ query }) => {
      const { action, subject, limit, cursor } = query;
      const size = parseLimit(limit, AUDIT_PAGE_MAX, AUDIT_PAGE_USUAL);
      return { action, subject, ...parsePeriod(query), size, after: parseCursor(cursor, isAuditId) };
    },
  },
  async ({ deps, caller, input }) => {
    const page = await listAudit(deps.db, caller.tenant, input);
    if (!page) throw noSuchPage();
    return { entries: page.items.map(renderEntry), ...renderCursor(page.end?.id) };
  },
);

function renderEntry(entry: AuditEntry): Static<typeof EntrySchema> {
  const { id, at, action, subject, before, after } = entry;
  return {
    id,
    at: at.toISOString(),
    actor: renderActor(entry),
    action,
    ...(subject !== null && { subject }),
    ...(before && { before }),
    ...(after && { after }),
  };
}

/** Which operator it was concerns the deployment alone. */
function renderActor({ actorKind, actorId, address }: AuditEntry): Static<typeof ActorSchema> {
  return {
    kind: actorKind,
    ...(actorKind !== 'operator' && { id: actorId }),
    ...(address !== null && { address }),
  };
}
