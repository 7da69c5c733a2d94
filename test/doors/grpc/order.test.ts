/** If two conditions hold at once, the one of the earlier stage is reported. */
import type { DescMethod } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { nameOf, type Row, readTable, rowsOf, SERVICES } from '../../../scripts/error-table.ts';
import { useService } from '../../support/service.ts';
import { type Way, waysOf } from './conditions.ts';
import { fieldsOf, useCalls } from './failing-calls.ts';

const table = readTable();
const methods = SERVICES.flatMap((service) => service.methods);
const app = useService({ confusableUsernames: 'refuse' });
const calls = useCalls(app);

interface Pair {
  readonly rows: readonly [Row, Row];
  readonly ways: readonly [Way, Way];
}

describe.each(methods.map((method) => ({ name: nameOf(method), method })))('$name', ({ method }) => {
  test('reports the earlier of two conditions', async () => {
    const pairs = pairsOf(method);
    expect(pairs.length).toBeGreaterThan(20);
    const told = await inTurns(pairs, async ({ rows, ways }) => {
      const { code, info } = await calls.call(method, ways);
      return `${rows.map((row) => row.condition).join(' + ')}: ${code} ${info?.reason}`;
    });
    const expected = pairs.map(({ rows: [first, second] }) => {
      return `${first.condition} + ${second.condition}: ${first.code} ${first.reason}`;
    });
    expect(told).toStrictEqual(expected);
  });
});

test('many of all pairs can be tried', () => {
  const count = methods.flatMap(pairsOf).length;
  expect(count).toBeGreaterThan(4_000);
});

/** All pairs of conditions of different stages that can hold at once, the earlier one first. */
function pairsOf(method: DescMethod): Pair[] {
  const rows = rowsOf(table, method);
  return rows.flatMap((first) =>
    rows.flatMap((second): Pair[] => {
      if (first.stage >= second.stage) return [];
      const ways = waysOf(method, first.condition).flatMap((one) =>
        waysOf(method, second.condition).map((other) => [one, other] as const),
      );
      const pair = ways.find(([one, other]) => areIndependent(method, one, other));
      return pair ? [{ rows: [first, second], ways: pair }] : [];
    }),
  );
}

function areIndependent(method: DescMethod, one: Way, other: Way): boolean {
  const [theirs, others] = [touched(method, one), touched(method, other)];
  return !theirs.some((path) => others.some((each) => isWithin(path, each) || isWithin(each, path)));
}

function isWithin(path: string, other: string): boolean {
  return path === other || path.startsWith(`${other}.`);
}

const CREDENTIALS = { works: '1', revoked: '2', rotated: '3', expired: '4' };
const NOWHERE = { id: 't', credentials: CREDENTIALS, keys: {} } as never;

/** What a way changes, and what it needs unchanged: request paths, and parts of the call. */
function touched(method: DescMethod, way: Way): string[] {
  const worlds = { usual: NOWHERE, foreign: { id: 'foreign', credentials: { works: 'foreign' } } } as never;
  const before = fieldsOf(method, [], NOWHERE, worlds);
  const after = fieldsOf(method, [way], NOWHERE, worlds);
  return [
    ...differences(before, after).map((path) => `request.${path}`),
    ...(way.needs ?? []).map((path) => `request.${path}`),
    ...(way.bytes ? ['request'] : []),
    ...(way.world ? ['world'] : []),
    ...(way.key || way.authorization !== undefined ? ['key'] : []),
  ];
}

/** Everything below one field of a message counts as one: a condition, a mask, an actor. */
function differences(before: object, after: object, depth = 0): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => {
    const [one, other] = [before, after].map((each) => (each as Record<string, unknown>)[name]);
    if (text(one) === text(other)) return [];
    const isNested = depth === 0 && isObject(one) && isObject(other) && ['watchdog', 'policy'].includes(name);
    return isNested ? differences(one, other, 1).map((path) => `${name}.${path}`) : [name];
  });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function text(value: unknown): string | undefined {
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each));
}

/** Runs some at a time, and keeps the order of the answers. */
async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += 16) {
    results.push(...(await Promise.all(items.slice(at, at + 16).map(work))));
  }
  return results;
}
