/**
 * JSON schemas, with TypeBox's types of what they describe.
 *
 * TypeBox would load 680 files at every start to build them, so only its types are used. Each function here
 * returns what the one of the same name in TypeBox returns.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type Typebox from 'typebox';
import type { TSchema } from 'typebox';

export type { Static, TSchema } from 'typebox';

type Builder = Pick<
  typeof Typebox,
  | 'Array'
  | 'Boolean'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'String'
  | 'Union'
  | 'Unsafe'
>;

/** Marks a schema as one of a member that may be absent. JSON has no symbols, so it is never written. */
const OPTIONAL = Symbol('optional');

const schemaOf = (type: string) => (options?: object) => ({ type, ...options });

export const Type = {
  Array: (items: object, options?: object) => ({ type: 'array', items, ...options }),
  Boolean: schemaOf('boolean'),
  Integer: schemaOf('integer'),
  Literal: (value: unknown, options?: object) => ({ type: typeof value, const: value, ...options }),
  Null: schemaOf('null'),
  Number: schemaOf('number'),
  Object: (properties: Record<string, object>, options?: object) => {
    const required = Object.keys(properties).filter((name) => !(OPTIONAL in properties[name]!));
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options };
  },
  Optional: (schema: object) => ({ ...schema, [OPTIONAL]: true }),
  String: schemaOf('string'),
  Union: (anyOf: readonly object[], options?: object) => ({ anyOf, ...options }),
  Unsafe: (schema: object) => schema,
} as unknown as Builder;

/** One of the given words. */
export function words<const T extends readonly string[]>(
  values: T,
  options: { default?: T[number]; description?: string } = {},
) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options });
}

/** ISO 8601 UTC, with milliseconds. */
export function time(description: string) {
  return Type.String({ format: 'date-time', description });
}

/** The same schema with a description of its own. Mark it as optional afterwards, not before. */
export function described<S extends TSchema>(schema: S, description: string): S {
  return { ...schema, description };
}

export interface Fault {
  /** `/` and the name of the member, for each level; `''`: the value itself. */
  readonly path: string;
  /** Such as `must be string`. */
  readonly message: string;
}

/** Returns what finds the first fault in a value: why it does not fit the schema. Compiled by its first use. */
export function faultFinder(schema: TSchema): (value: unknown) => Fault | undefined {
  let isValid: ValidateFunction | undefined;
  return (value) => {
    isValid ??= new Ajv({ validateSchema: false }).compile(schema);
    return isValid(value) ? undefined : describe(isValid.errors![0]!);
  };
}

function describe({ instancePath, keyword, params, message = 'is not valid' }: ErrorObject): Fault {
  if (keyword !== 'additionalProperties') return { path: instancePath, message };
  return { path: `${instancePath}/${params.additionalProperty}`, message: 'is not a known field' };
}
