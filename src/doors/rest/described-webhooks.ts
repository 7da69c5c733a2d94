/** The section `webhooks` of the OpenAPI description: the request of each type of event to a receiver. */
import { type TSchema, Type } from '../../base/lib/schema.ts';
import {
  DESCRIBED_EVENTS,
  type DescribedEvent,
  published,
} from '../../outward/events/schemas/event-schemas.ts';
import { BATCH_MAX } from '../../outward/webhooks/webhook.ts';
import { EventSchema } from './events.ts';

/** Stands beside the types of events. */
export const LIST_OF_EVENTS = 'list_of_events';

/** By type of event; and the request with several events of any type. */
export function describeWebhooks(): Record<string, object> {
  const single = DESCRIBED_EVENTS.map((event) => [event.type, { post: describeEvent(event) }]);
  return { ...Object.fromEntries(single), [LIST_OF_EVENTS]: { post: describeList() } };
}

function describeEvent({ type, told, schema }: DescribedEvent): object {
  return {
    operationId: `on${type.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}`,
    summary: told.replace(/\.$/, ''),
    description: `The request that webhooks get. ${told} \`GET /v1/events\` has the same event.`,
    ...describeRequest(
      'The id of the event',
      'The event. Expect members that this description does not name, and new words',
      schema,
    ),
  };
}

function describeList(): object {
  return {
    operationId: 'onListOfEvents',
    summary: 'Several events in a request',
    description:
      'The request that webhooks get whose `max_batch` is more than 1, even if only one event waits. The answer is about all of ' +
      'its events. Those of each type are described under its name. With the `format` `cloudevents`, the body is a batch of ' +
      'CloudEvents instead.',
    ...describeRequest(
      'The id of the list. Each event has its own',
      'The events, in order. Expect types and members that this description does not name',
      ListSchema,
    ),
  };
}

const ListSchema = Type.Object(
  {
    events: Type.Array(EventSchema, {
      minItems: 1,
      maxItems: BATCH_MAX,
      description: 'The events, in order',
    }),
  },
  { description: 'A list of events' },
);

function describeRequest(id: string, body: string, schema: TSchema): object {
  return {
    tags: ['Webhooks'],
    security: [],
    parameters: [
      header('webhook-id', id),
      header('webhook-timestamp', 'When it was signed: whole seconds since 1970'),
      header('webhook-signature', 'Signatures, separated by spaces: `v1,` or `v1a,` and base64'),
    ],
    requestBody: {
      required: true,
      description: body,
      content: { 'application/json': { schema: published(schema) } },
    },
    responses: RESPONSES,
  };
}

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
});

const RESPONSES = {
  '2XX': { description: 'Delivered' },
  '410': { description: 'There is no such receiver any more: the webhook is paused' },
  default: { description: 'Not delivered: the event comes again' },
};
