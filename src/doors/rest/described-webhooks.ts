/** The section `webhooks` of the OpenAPI description: the request of each type of event to a receiver. */
import {
  DESCRIBED_EVENTS,
  type DescribedEvent,
  published,
} from '../../outward/events/schemas/event-schemas.ts';

/** By type of event. */
export function describeWebhooks(): Record<string, object> {
  return Object.fromEntries(DESCRIBED_EVENTS.map((event) => [event.type, { post: describeRequest(event) }]));
}

function describeRequest({ type, told, schema }: DescribedEvent): object {
  return {
    operationId: `on${type.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}`,
    summary: told.replace(/\.$/, ''),
    description: `The request that webhooks get. ${told} \`GET /v1/events\` has the same event.`,
    tags: ['Webhooks'],
    security: [],
    parameters: HEADERS,
    requestBody: {
      required: true,
      description: 'The event. Expect members that this description does not name, and new words',
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

const HEADERS = [
  header('webhook-id', 'The id of the event'),
  header('webhook-timestamp', 'When it was signed: whole seconds since 1970'),
  header('webhook-signature', 'Signatures, separated by spaces: `v1,` or `v1a,` and base64'),
];

const RESPONSES = {
  '2XX': { description: 'Delivered' },
  '410': { description: 'There is no such receiver any more: the webhook is paused' },
  default: { description: 'Not delivered: the event comes again' },
};
