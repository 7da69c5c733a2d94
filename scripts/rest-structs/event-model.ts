/** The types of the `data` of events out of their schemas, under the names that all SDKs give them. */
import { ApiKeySchema } from '../../src/access/keys/key-schema.ts';
import { AmountSchema } from '../../src/money/amount-schema.ts';
import { PUBLIC_EVENTS_OF, TEST_EVENT_TYPE } from '../../src/outward/events/event-catalogue.ts';
import { DATA_SCHEMAS, TestDataSchema } from '../../src/outward/events/schemas/data-schemas.ts';
import type { Schema } from '../describe-rest.ts';
import { type Field, type Kind, type Struct, shapeOf } from './model.ts';
import { WORDS } from './names.ts';

export interface EventModel {
  readonly structs: readonly Struct[];
  /** The struct of each type of event, in the order of the catalogue. */
  readonly types: readonly (readonly [type: string, struct: string])[];
}

const TEST = 'webhookTest';

/** Types whose subjects are called like something else. */
const NAMES: Readonly<Record<string, string>> = {
  apiKey: 'KeyChangeData',
  deviceCredential: 'DeviceCredentialChangeData',
};

/** Objects inside of data, by the names of their members. */
const INNER: Readonly<Record<string, string>> = {
  policy: 'RoomPolicyData',
  devices: 'ParticipantDeviceData',
  subject: 'ModerationSubjectData',
  credential: 'DeviceCredentialData',
};

/** Types that the REST interface has too. */
const SHARED = new Map(
  Object.entries({ Amount: AmountSchema, ApiKey: ApiKeySchema }).map(([name, schema]) => [
    shapeOf(schema as Schema),
    name,
  ]),
);

export function makeEventModel(): EventModel {
  const subjects = [...Object.entries(DATA_SCHEMAS), [TEST, TestDataSchema] as const];
  return {
    structs: subjects.flatMap(([subject, schema]) => structsOf(nameOf(subject), schema as Schema)),
    types: [
      ...Object.entries(PUBLIC_EVENTS_OF).flatMap(([subject, types]) =>
        Object.keys(types).map((type) => [type, nameOf(subject)] as const),
      ),
      [TEST_EVENT_TYPE, nameOf(TEST)],
    ],
  };
}

function nameOf(subject: string): string {
  return NAMES[subject] ?? `${subject[0]!.toUpperCase()}${subject.slice(1)}Data`;
}

/** The type of an object, and those inside it, which come first. */
function structsOf(name: string, { description = '', properties = {}, required = [] }: Schema): Struct[] {
  const inner: Struct[] = [];
  const fields = Object.entries(properties).map(
    ([member, schema]): Field => ({
      name: member,
      doc: schema.description!,
      kind: kindOf(member, schema, inner),
      isOptional: !required.includes(member),
      from: 'answer',
      minimum: 0,
    }),
  );
  return [...inner, { name, doc: `${description}, as an event tells of it`, fields, request: undefined }];
}

function kindOf(member: string, schema: Schema, inner: Struct[]): Kind {
  const shared = SHARED.get(shapeOf(schema));
  if (shared) return { is: 'struct', name: shared };
  switch (schema.type) {
    case 'array':
      return { is: 'list', of: kindOf(member, schema.items!, inner) };
    case 'object': {
      const name = INNER[member];
      if (!name) throw new Error(`the object ${member} in the data of events has no name`);
      inner.push(...structsOf(name, schema));
      return { is: 'struct', name };
    }
    case 'string':
      if (schema.format === 'date-time') return { is: 'time' };
      return wordsOf(schema.enum ?? []) ?? { is: 'text' };
    case 'integer':
      return { is: 'integer', size: schema.format === 'int64' ? '64 bits' : 'usual', isUnsigned: false };
    case 'boolean':
    case 'number':
      return { is: schema.type };
    default:
      throw new Error(`the member ${member} in the data of events has no type`);
  }
}

/** The type that has exactly these words. */
function wordsOf(words: readonly string[]): Kind | undefined {
  const found = Object.entries(WORDS).find(
    ([, type]) =>
      words.length > 0 &&
      JSON.stringify(Object.keys(type.words).toSorted()) === JSON.stringify(words.toSorted()),
  );
  return found && { is: 'words', name: found[0] };
}
