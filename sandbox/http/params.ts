/**
 * Readers for request parameters: a schema is an object of fields, and its result is typed.
 *
 * A parameter that the schema does not name is refused with `parameter_unknown`, as Stripe does, so
 * that a misspelt parameter is always noticed.
 */

import { type ErrorDetails, invalidRequest } from './errors.ts';
import { type FormObject, type FormValue, isFormObject } from './form.ts';

export type Reader<T> = (value: FormValue, path: string) => T;

export interface Field<T> {
  readonly read: Reader<T>;
  readonly required: boolean;
}

export type Schema = Record<string, Field<unknown>>;
export type Params<S extends Schema> = { [K in keyof S]: S[K] extends Field<infer T> ? T : never };

export function required<T>(read: Reader<T>): Field<T> {
  return { read, required: true };
}

export function optional<T>(read: Reader<T>): Field<T | undefined> {
  return { read, required: false };
}

/** Read `form` by `schema`; `path` is the name of the enclosing parameter, '' at the top. */
export function readParams<S extends Schema>(form: FormObject, schema: S, path = ''): Params<S> {
  for (const name of Object.keys(form)) {
    if (!Object.hasOwn(schema, name)) throw unknownParameter(join(path, name));
  }
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema)) {
    const value = form[name];
    if (value === undefined && field.required) throw missingParameter(join(path, name));
    values[name] = value === undefined ? undefined : field.read(value, join(path, name));
  }
  return values as Params<S>;
}

export function object<S extends Schema>(schema: S): Reader<Params<S>> {
  return (value, path) => {
    if (!isFormObject(value)) throw invalid(path, 'Invalid object');
    return readParams(value, schema, path);
  };
}

export function list<T>(read: Reader<T>, { max = 100 }: { max?: number } = {}): Reader<T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw invalid(path, 'Invalid array');
    if (value.length > max) throw invalid(path, `Array has more than ${max} items`);
    return value.map((item, index) => read(item, `${path}[${index}]`));
  };
}

export function text({ max = 5000 }: { max?: number } = {}): Reader<string> {
  return (value, path) => {
    if (typeof value !== 'string') throw invalid(path, 'Invalid string');
    if (value === '') {
      throw invalid(path, `You passed an empty string for '${path}'`, { code: 'parameter_invalid_empty' });
    }
    if (value.length > max) throw invalid(path, `Invalid string: longer than ${max} characters`);
    return value;
  };
}

/** An empty string unsets the value and reads as null. */
export function emptyable<T>(read: Reader<T>): Reader<T | null> {
  return (value, path) => (value === '' ? null : read(value, path));
}

export function integer({ min, max }: { min?: number; max?: number } = {}): Reader<number> {
  return (value, path) => {
    if (typeof value !== 'string' || !/^-?\d{1,15}$/.test(value)) {
      throw invalid(path, 'Invalid integer', { code: 'parameter_invalid_integer' });
    }
    const number = Number(value);
    if (min !== undefined && number < min) {
      throw invalid(path, `This value must be greater than or equal to ${min}`, {
        code: 'parameter_invalid_integer',
      });
    }
    if (max !== undefined && number > max) {
      throw invalid(path, `This value must be less than or equal to ${max}`, {
        code: 'parameter_invalid_integer',
      });
    }
    return number;
  };
}

export function boolean(): Reader<boolean> {
  return (value, path) => {
    if (value === 'true') return true;
    if (value === 'false') return false;
    throw invalid(path, 'Invalid boolean: must be either true or false');
  };
}

export function oneOf<const T extends string>(...choices: T[]): Reader<T> {
  return (value, path) => {
    const choice = choices.find((candidate) => candidate === value);
    if (choice === undefined) throw invalid(path, `Invalid ${path}: must be one of ${choices.join(', ')}`);
    return choice;
  };
}

/** An ISO currency code in lower case. */
export function currency(): Reader<string> {
  return (value, path) => {
    if (typeof value !== 'string' || !/^[a-z]{3}$/i.test(value)) {
      throw invalid(path, 'Invalid currency: use a three-letter code in lower case');
    }
    return value.toLowerCase();
  };
}

/** A URL that browsers may be sent to: http or https, because `javascript:` would run on our page. */
export function url(): Reader<string> {
  return (value, path) => {
    const parsed = typeof value === 'string' ? URL.parse(value) : null;
    if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') {
      throw invalid(path, 'Not a valid URL', { code: 'url_invalid' });
    }
    return value as string;
  };
}

/** Up to 50 pairs of text. An empty value removes its key. */
export function metadata(): Reader<Record<string, string>> {
  return (value, path) => {
    // An empty list of indexes or a list of numbers still counts as an object.
    const object = Array.isArray(value) ? Object.fromEntries(value.entries()) : value;
    if (typeof object !== 'object') throw invalid(path, 'Invalid object');
    const entries = Object.entries(object);
    if (entries.length > 50) throw invalid(path, 'Metadata can have up to 50 keys');
    for (const [key, item] of entries) {
      if (key.length > 40) throw invalid(path, 'Metadata keys can have up to 40 characters');
      if (typeof item !== 'string' || item.length > 500) {
        throw invalid(`${path}[${key}]`, 'Metadata values must be strings of up to 500 characters');
      }
    }
    return Object.fromEntries(entries) as Record<string, string>;
  };
}

/** Accepted for compatibility, without effect in the sandbox. */
export function ignored(): Reader<undefined> {
  return () => undefined;
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}[${name}]`;
}

function unknownParameter(param: string) {
  return invalidRequest(`Received unknown parameter: ${param.slice(0, 200)}`, {
    code: 'parameter_unknown',
    param: param.slice(0, 200),
  });
}

function missingParameter(param: string) {
  return invalidRequest(`Missing required param: ${param}.`, { code: 'parameter_missing', param });
}

function invalid(param: string, message: string, details: ErrorDetails = {}) {
  return invalidRequest(`${message} (${param}).`, { ...details, param });
}
