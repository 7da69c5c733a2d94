/** Comparisons of outcomes. Both return one line for each difference. */
import type { Json } from './driver.ts';

const LENGTH_MAX = 200;

function show(value: Json): string {
  const text = value instanceof RegExp ? String(value) : (JSON.stringify(value) ?? 'nothing');
  return text.length > LENGTH_MAX ? `${text.slice(0, LENGTH_MAX)}...` : text;
}

function isObject(value: Json): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof RegExp);
}

/**
 * Where `actual` is not what a step expects. Members that `expected` does not name may have any value; one that
 * is `undefined` must be absent. A RegExp must match a text.
 */
export function mismatches(expected: Json, actual: Json, path = ''): string[] {
  if (expected instanceof RegExp) {
    const isMatch = typeof actual === 'string' && expected.test(actual);
    return isMatch ? [] : [`${path || 'outcome'}: ${show(actual)} instead of ${show(expected)}`];
  }
  if (isObject(expected) && isObject(actual)) {
    return Object.entries(expected).flatMap(([name, each]) =>
      mismatches(each, actual[name], path ? `${path}.${name}` : name),
    );
  }
  return differencesOfOthers(expected, actual, path, mismatches);
}

/** Where `actual` differs from `reference`. */
export function differences(reference: Json, actual: Json, path = ''): string[] {
  if (isObject(reference) && isObject(actual)) {
    const names = new Set([...Object.keys(reference), ...Object.keys(actual)]);
    return [...names].flatMap((name) =>
      differences(reference[name], actual[name], path ? `${path}.${name}` : name),
    );
  }
  return differencesOfOthers(reference, actual, path, differences);
}

function differencesOfOthers(
  expected: Json,
  actual: Json,
  path: string,
  compare: (expected: Json, actual: Json, path: string) => string[],
): string[] {
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
    return expected.flatMap((each, at) => compare(each, actual[at], `${path}[${at}]`));
  }
  if (Object.is(expected, actual)) return [];
  return [`${path || 'outcome'}: ${show(actual)} instead of ${show(expected)}`];
}
