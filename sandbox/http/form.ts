/**
 * Stripe's request encoding: `application/x-www-form-urlencoded` with nested brackets,
 * `line_items[0][price_data][currency]=usd`. The same encoding serves query strings.
 */
import { invalidRequest } from './errors.ts';

export type FormValue = string | FormObject | FormList;
export interface FormObject {
  [key: string]: FormValue;
}
export type FormList = FormValue[];

const PAIRS_MAX = 2000;
const DEPTH_MAX = 8;

/** Parse an encoded body or query string into a tree. Throws a 400 if it is not well formed. */
export function parseForm(encoded: string): FormObject {
  const root = emptyObject();
  const pairs = [...new URLSearchParams(encoded)];
  if (pairs.length > PAIRS_MAX) throw invalidRequest('The request has too many parameters.');
  for (const [name, value] of pairs) insert(root, segments(name), value);
  return listsFromIndexes(root) as FormObject;
}

/** True for a nested object of parameters, false for text and lists. */
export function isFormObject(value: FormValue | undefined): value is FormObject {
  return typeof value === 'object' && !Array.isArray(value);
}

// Without a prototype, a parameter called `__proto__` or `constructor` is an ordinary parameter.
function emptyObject(): FormObject {
  return Object.create(null) as FormObject;
}

function segments(name: string): string[] {
  const bracket = name.indexOf('[');
  if (bracket === -1) return [name];
  const nested = name.slice(bracket);
  if (bracket === 0 || !/^(\[[^[\]]*\])+$/.test(nested)) throw malformed(name);
  const path = [name.slice(0, bracket), ...nested.slice(1, -1).split('][')];
  if (path.length > DEPTH_MAX) throw malformed(name);
  return path;
}

function insert(root: FormObject, path: string[], value: string): void {
  let node = root;
  for (const [depth, segment] of path.entries()) {
    const key = segment === '' ? String(Object.keys(node).length) : segment;
    if (depth === path.length - 1) {
      if (isFormObject(node[key])) throw malformed(path.join('.'));
      node[key] = value;
      return;
    }
    const child = node[key] ?? emptyObject();
    if (!isFormObject(child)) throw malformed(path.join('.'));
    node[key] = child;
    node = child;
  }
}

function listsFromIndexes(value: FormValue): FormValue {
  if (!isFormObject(value)) return value;
  const keys = Object.keys(value);
  for (const key of keys) value[key] = listsFromIndexes(value[key]!);
  const isList = keys.length > 0 && keys.every((key, index) => key === String(index));
  return isList ? keys.map((key) => value[key]!) : value;
}

function malformed(name: string) {
  return invalidRequest('A parameter name is not well formed.', { param: name.slice(0, 100) });
}
