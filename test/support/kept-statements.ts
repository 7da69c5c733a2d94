/**
 * The statements that connections keep: those with a name. Every function of a `*.sql.ts` is called with a database that only
 * notes what it is asked.
 */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { ASSIGNED } from '../../src/control/sessions/session-cursors.sql.ts';
import { ALL_SUMS } from '../../src/money/usage/rolled-up-sums.ts';

export interface KeptStatement {
  readonly name: string;
  readonly text: string;
}

const ROOT = join(import.meta.dirname, '../..');
/** The first arguments of functions that make them a part of the text. */
const ARGUMENTS: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
  ...Object.fromEntries(
    ['countInUse', 'countRetiring', 'markRevoked', 'markRetiring', 'takeRetiringKeys'].map((each) => [
      each,
      [['api_keys'], ['device_credentials']],
    ]),
  ),
  findUnkept: [
    [1n, 'key'],
    [1n, 'device'],
  ],
  deleteOver: [
    'console_sessions',
    'login_attempts',
    'login_links',
    'operator_links',
    'operator_sessions',
    'passkey_challenges',
  ].map((table) => [table, 'false']),
  insertTenant: [
    [{ id: 1n, name: 'x', email: 'x' }, ['insert into accounts (tenant_id) select id from tenant']],
  ],
  findBehind: [['new charges'], ['all accounts']],
  findDueDay: ALL_SUMS.map((each) => [each]),
  nextPostings: [[ASSIGNED]],
  rollUp: ALL_SUMS.map((each) => [each]),
};
const PARAMETERS_MAX = 5;
/** A function that reads page after page would never end. */
const QUERIES_MAX = 20;
const WAIT_MS = 100;

/** Anything: an object with every property, a list of one, a function. As a text it is `1`. */
function anything(query: unknown): unknown {
  const one = () => anything(query);
  return new Proxy(() => {}, {
    get: (_, key) => {
      if (key === Symbol.toPrimitive) return () => 1;
      if (key === Symbol.iterator) return () => [one()].values();
      if (key === 'length') return 1;
      if (key === 'map') return (each: (value: unknown, at: number) => unknown) => [each(one(), 0)];
      if (key === 'flatMap')
        return (each: (value: unknown, at: number) => unknown) => [each(one(), 0)].flat();
      if (key === 'query') return query;
      return key === 'then' || key === 'toJSON' ? undefined : one();
    },
    apply: one,
    construct: () => one() as object,
    has: () => true,
  });
}

export async function collectKeptStatements(): Promise<KeptStatement[]> {
  const kept = new Map<string, KeptStatement>();
  /** One, or several that are sent together. */
  const note = (asked: unknown) => {
    for (const each of [asked].flat()) {
      const { name, text } = (each ?? {}) as Partial<KeptStatement>;
      if (typeof name === 'string' && name !== '' && typeof text === 'string') kept.set(name, { name, text });
    }
  };
  let queries = 0;
  const query = async (asked: unknown) => {
    note(asked);
    queries += 1;
    if (queries > QUERIES_MAX) throw new Error('enough');
    return { rows: [anything(query)], rowCount: 1 };
  };
  for (const file of globSync('src/**/*.sql.ts', { cwd: ROOT })) {
    const module: Record<string, unknown> = await import(join(ROOT, file));
    for (const [name, made] of Object.entries(module)) {
      queries = 0;
      if (typeof made === 'function') await callWith(made as Callable, ARGUMENTS[name] ?? [[]], query, note);
    }
  }
  return [...kept.values()];
}

type Callable = (...args: unknown[]) => unknown;

/** With every argument, and with none, which leaves out optional conditions. What a function makes of the rows does not matter. */
async function callWith(
  made: Callable,
  given: readonly (readonly unknown[])[],
  query: Callable,
  note: (asked: unknown) => void,
): Promise<void> {
  for (const first of given) {
    for (const rest of [anything(query), undefined]) {
      const others = Array.from({ length: PARAMETERS_MAX - first.length }, () => rest);
      const done = Promise.resolve()
        .then(() => made({ query, options: {} }, ...first, ...others))
        .then(note, () => {});
      // Some wait for others, for ever.
      await Promise.race([done, new Promise((resolve) => setTimeout(resolve, WAIT_MS))]);
    }
  }
}
