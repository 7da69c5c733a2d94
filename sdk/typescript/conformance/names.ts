/**
 * Names and values as the conformance suite writes them, and as this SDK has them: `empty_for` is
 * `emptyForSeconds`, times are texts by RFC 3339, and integers of 64 bits are numbers.
 */
import { NAMES } from '../src/backend/rest-types.ts';

/** Fields of requests that are lengths of time. */
const DURATIONS: ReadonlySet<string> = new Set([
  'max_duration',
  'unused_for',
  'empty_for',
  'host_absent_for',
  'alone_for',
  'participant_max_duration',
  'unadmitted_for',
  'warn_before',
  'wait',
  'ttl',
  'lifetime',
  'overlap',
]);

/** Fields of requests that are times. */
const TIMES: ReadonlySet<string> = new Set([
  'create_time_from',
  'create_time_before',
  'expire_time',
  'from',
  'to',
  'since',
]);

const WIRE_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(NAMES).map(([wire, here]) => [here, wire]),
);

/** A request of the suite, for this SDK. */
export function fromSuite(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromSuite);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => {
    if (DURATIONS.has(name)) return [`${camelCase(name)}Seconds`, each];
    if (TIMES.has(name)) return [camelCase(name), new Date(each as string)];
    return [camelCase(name), fromSuite(each)];
  });
  return Object.fromEntries(entries);
}

/** An answer of this SDK, for the suite. */
export function toSuite(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(toSuite);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [snakeCase(name), toSuite(each)]));
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function snakeCase(name: string): string {
  const plain = name.replace(/(?<=[a-z])Seconds$/, '');
  return WIRE_NAMES[name] ?? plain.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
