/**
 * Makes the types of the data of events for the SDK for TypeScript out of their schemas.
 *
 *     node scripts/make-event-types.ts       sdk/typescript/src/backend/event-types.ts
 *
 * Names and values are those of the wire. What reads an event may not know its type, so it leaves them as they are.
 */
import { writeFileSync } from 'node:fs';
import { AmountSchema } from '../src/money/amount-schema.ts';
import { DESCRIBED_EVENTS } from '../src/outward/events/schemas/event-schemas.ts';
import type { Schema } from './describe-rest.ts';
import { makeEventModel } from './rest-structs/event-model.ts';
import { shapeOf } from './rest-structs/model.ts';

const TYPES_URL = new URL('../sdk/typescript/src/backend/event-types.ts', import.meta.url);

/** More words than this are in the schema alone. */
const WORDS_MAX = 8;
/** A longer list of words has a line for each. */
const LINE_WIDTH = 110;

/** The text of `event-types.ts`. */
export function makeEventTypes(): string {
  const schemas = new Map(
    DESCRIBED_EVENTS.map(({ type, schema }) => [type, (schema as Schema).properties!.data!]),
  );
  const { types } = makeEventModel();
  const interfaces = new Map(types.map(([type, name]) => [name, schemas.get(type)!]));
  return [
    '/** The data of events. Made by scripts/make-event-types.ts; not to be edited. */\n',
    writeInterface('AmountData', AmountSchema as Schema),
    ...[...interfaces].map(([name, schema]) => writeInterface(name, schema)),
    '/** The data of an event, by its type. */',
    `export interface EventData {\n${types.map(([type, name]) => `  ${type}: ${name};\n`).join('')}}\n`,
  ].join('\n');
}

function writeInterface(name: string, schema: Schema): string {
  return `/** ${schema.description}. */\nexport interface ${name} ${objectOf(schema, '')}\n`;
}

function objectOf({ properties = {}, required = [] }: Schema, indent: string): string {
  const inside = `${indent}  `;
  const lines = Object.entries(properties).map(([name, schema]) => {
    const [mark, orUndefined] = required.includes(name) ? ['', ''] : ['?', ' | undefined'];
    const line = `${inside}${name}${mark}: ${typeOf(schema, inside)}${orUndefined};`;
    const words = schema.enum ?? [];
    if (orUndefined && schema.type === 'object' && shapeOf(schema) !== AMOUNT) {
      const nested = objectOf(schema, `${inside}    `);
      return `${inside}/** ${schema.description}. */\n${inside}${name}?:\n${inside}  | ${nested}\n${inside}  | undefined;\n`;
    }
    const isLong = line.length > LINE_WIDTH && words.length > 0;
    const text = isLong
      ? `${inside}${name}${mark}:${[...words.map((word) => `'${word}'`), ...(orUndefined && ['undefined'])].map((each) => `\n${inside}  | ${each}`).join('')};`
      : line;
    return `${inside}/** ${schema.description}. */\n${text}\n`;
  });
  return `{\n${lines.join('')}${indent}}`;
}

function typeOf(schema: Schema, indent: string): string {
  if (shapeOf(schema) === AMOUNT) return 'AmountData';
  if (schema.enum && schema.enum.length <= WORDS_MAX)
    return schema.enum.map((word) => `'${word}'`).join(' | ');
  switch (schema.type) {
    case 'object':
      return objectOf(schema, indent);
    case 'array': {
      const item = typeOf(schema.items!, indent);
      return item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
    }
    case 'integer':
      return 'number';
    default:
      return String(schema.type);
  }
}

const AMOUNT = shapeOf(AmountSchema as Schema);

if (import.meta.main) writeFileSync(TYPES_URL, makeEventTypes());
