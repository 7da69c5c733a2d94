/** `GET /v1/events`: the events of the tenant, for those who would rather ask than be told. */
import { invalidField } from '../../base/failure.ts';
import { Type, words } from '../../base/lib/schema.ts';
import { EVENT_DAYS } from '../../events/event.ts';
import { PUBLIC_EVENT_TYPES, PUBLIC_EVENTS } from '../../outward/events/event-catalogue.ts';
import { eventSchema, eventSeq } from '../../outward/events/event-schema.ts';
import { renderPublicEvent } from '../../outward/events/public-event.ts';
import {
  PULL_WAIT_SECONDS_MAX,
  PULLED_EVENTS_MAX,
  PULLED_EVENTS_USUAL,
  pullEvents,
} from '../../outward/events/pull-events.ts';
import { EVENT_STREAM_TYPE, wantsEventStream } from '../http/event-stream.ts';
import { sendEventStream } from './event-stream.ts';
import { limitField, parseLimit } from './query.ts';
import { JSON_TYPE, plain } from './route.ts';

/** For reading and sending the events, in addition to the wait. */
const READ_SECONDS = 15;

/** An event of any type. */
export const EventSchema = eventSchema(
  {
    type: words(PUBLIC_EVENT_TYPES, { description: 'What happened' }),
    data: Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          'What it happened to, as it was right after. Depends on the type: `webhooks` of this description has its schema',
      },
    ),
  },
  'Something that happened',
);

const PageSchema = Type.Object(
  {
    events: Type.Array(EventSchema, { description: 'The events, in order' }),
    after: eventSeq('`after` of the next request'),
    more: Type.Boolean({ description: 'There are more, or may be: ask again at once' }),
  },
  { description: 'The next events. There may be none' },
);

const described = Object.entries(PUBLIC_EVENTS).map(([type, text]) => `- \`${type}\`: ${text}`);

export const eventsRoute = plain(
  {
    path: 'GET /v1/events',
    key: 'backend',
    closedTo: 'deleted',
    queue: 'its own',
    tag: 'Webhooks',
    operation: 'listEvents',
    summary: 'Events of the tenant, in order',
    description:
      'The same events, in the same form, as webhooks get. Ask again with the `after` of the answer. With ' +
      '`wait_seconds`, the answer comes as soon as there is an event. Events are kept for ' +
      `${EVENT_DAYS} days, or longer if the operator says so; an \`after\` whose next event is gone, or that the log has not reached, is refused with 400.\n\n` +
      `Who accepts \`${EVENT_STREAM_TYPE}\` gets server-sent events without end. They begin after \`Last-Event-ID\` or \`after\`; without both, with what happens from then on. ` +
      '`limit` and `wait_seconds` mean nothing there.\n\n' +
      `${described.join('\n')}`,
    query: Type.Object({
      after: Type.Optional(
        Type.String({
          pattern: '^(0|[1-9][0-9]{0,17})$',
          description:
            'The number of an event: only later ones. Left out: from the oldest event that is kept',
          examples: ['42'],
        }),
      ),
      types: Type.Optional(
        Type.String({
          description: 'Types of events, separated by commas. Left out: all',
          examples: ['balance_low,top_up_failed'],
        }),
      ),
      limit: limitField(PULLED_EVENTS_MAX, PULLED_EVENTS_USUAL),
      wait_seconds: Type.Optional(
        Type.String({
          pattern: '^[0-9]{1,2}$',
          description: `How long to wait for an event if there is none: 0 to ${PULL_WAIT_SECONDS_MAX}, 0 if it is left out`,
        }),
      ),
    }),
    answer: {
      200: Type.Unsafe<never>({
        description: 'The next events, or the stream, as `Accept` asks for',
        content: {
          'application/json': { schema: PageSchema },
          [EVENT_STREAM_TYPE]: {
            schema: Type.String({
              description:
                '`event` is the type, `id` the number, `data` the event. After ten seconds of silence comes an `id` alone: the ' +
                'place so far',
            }),
          },
        },
      }),
    },
    answerSeconds: PULL_WAIT_SECONDS_MAX + READ_SECONDS,
    parse: ({ query }) => ({
      after: query.after === undefined ? undefined : BigInt(query.after),
      types: parseTypes(query.types),
      limit: parseLimit(query.limit, PULLED_EVENTS_MAX, PULLED_EVENTS_USUAL),
      waitMs: parseWait(query.wait_seconds) * 1000,
    }),
  },
  async ({ deps, caller, input, request, reply, closing }) => {
    reply.header('vary', 'accept');
    if (wantsEventStream(request, 'application/json'))
      return sendEventStream(deps, { request, reply, caller, closing }, input);
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const page = await pullEvents(deps, caller, { ...input, signal: gone.signal });
    const events = page.events.map((event) => renderPublicEvent(caller.tenant, event));
    const text = `{"events":[${events.join(',')}],"after":${page.after},"more":${page.more}}`;
    return reply.type(JSON_TYPE).send(text as never);
  },
);

function parseTypes(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  const types = text.split(',');
  const strange = types.find((type) => !(PUBLIC_EVENT_TYPES as readonly string[]).includes(type));
  if (strange !== undefined) throw invalidField('types', 'must be types of events, separated by commas');
  return types;
}

function parseWait(text = '0'): number {
  const seconds = Number(text);
  if (seconds > PULL_WAIT_SECONDS_MAX)
    throw invalidField('wait_seconds', `must be <= ${PULL_WAIT_SECONDS_MAX}`);
  return seconds;
}
