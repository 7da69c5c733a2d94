/** The schemas of all events, by type. */
import { type TSchema, Type } from '../../../base/lib/schema.ts';
import { PUBLIC_EVENTS_OF, schemaVersionOf, TEST_EVENT_TYPE } from '../event-catalogue.ts';
import { eventSchema } from '../event-schema.ts';
import { DATA_SCHEMAS, TestDataSchema } from './data-schemas.ts';

export interface DescribedEvent {
  readonly type: string;
  /** What it tells, in a sentence. */
  readonly told: string;
  readonly schema: TSchema;
}

/** In the order of the catalogue, and then the event that tries out a webhook. */
export const DESCRIBED_EVENTS: readonly DescribedEvent[] = [
  ...Object.entries(PUBLIC_EVENTS_OF).flatMap(([subject, types]) =>
    Object.entries(types).map(([type, told]) =>
      describeEvent(type, told, DATA_SCHEMAS[subject as keyof typeof DATA_SCHEMAS]),
    ),
  ),
  describeEvent(TEST_EVENT_TYPE, 'A webhook is tried out. Its number is 0.', TestDataSchema),
];

function describeEvent(type: string, told: string, data: TSchema): DescribedEvent {
  const isType = Type.Literal(type, { description: 'What happened' });
  const version = schemaVersionOf(type);
  return { type, told, schema: eventSchema({ type: isType, version, data }, told.replace(/\.$/, '')) };
}

/**
 * The schema as receivers should check events with it: lists of words may grow, so a word is an example, and no
 * condition. Members that it does not name are allowed.
 */
export function published(schema: object): object {
  if (Array.isArray(schema)) return schema.map((each) => publishedValue(each));
  const { enum: words, ...others } = schema as { readonly enum?: readonly string[] };
  const entries = Object.entries(others).map(([name, value]) => [name, publishedValue(value)]);
  return Object.fromEntries(words ? [...entries, ['examples', words]] : entries);
}

function publishedValue(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? published(value) : value;
}
