/** Checks values against schemas of the OpenAPI description. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { TIMESTAMP } from './timestamp.ts';

export function openApiValidator(): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addFormat('date-time', TIMESTAMP);
  ajv.addFormat('email', true);
  ajv.addFormat('int64', { type: 'number', validate: isInt64 });
  ajv.addFormat('bigint', { type: 'number', validate: (value: number) => value >= 0 });
  return ajv;
}

/** A schema with every object closed: undocumented fields may not be answered. */
export function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([name, value]) => [name, closed(value)]);
  const copy = Object.fromEntries(entries);
  return copy.type === 'object' && copy.properties ? { ...copy, additionalProperties: false } : copy;
}

/** A number that was parsed stands for the nearest double: 2^63 for the highest. */
function isInt64(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) <= 2 ** 63;
}
