/** The conformance suite itself: what it covers, and that it notices what is wrong. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeRest } from '../../scripts/describe-rest.ts';
import { readTable, SERVICES } from '../../scripts/error-table.ts';
import { differences, mismatches } from '../../sdk/conformance/compare.ts';
import { Driver, type Json } from '../../sdk/conformance/driver.ts';
import { normalise } from '../../sdk/conformance/normalise.ts';
import { STEPS } from '../../sdk/conformance/steps/index.ts';
import {
  FIRST_STEP,
  type LanguageResult,
  runLanguage,
  type StepResult,
} from '../../sdk/conformance/suite.ts';
import { renderProblems, renderTable } from '../../sdk/conformance/table.ts';
import type { World } from '../../sdk/conformance/world.ts';
import { CALLS, LISTS, WATCHES } from '../../sdk/typescript/conformance/methods.ts';
import { Boxoffice } from '../../sdk/typescript/src/backend/index.ts';
import { snakeCase } from '../../src/outward/events/public-event.ts';

const ERRORS = readTable();

/** Every `error` in what steps expect. */
function errorsIn(expected: Json): Json[] {
  if (typeof expected !== 'object' || expected === null) return [];
  const own = expected.error?.kind === undefined ? [] : [expected.error];
  return [...own, ...Object.values(expected).flatMap(errorsIn)];
}

const EXPECTED = STEPS.flatMap(({ expect: each }) => errorsIn(each));

/** What back ends call over gRPC instead, and what only devices, relays and readers of statements call. */
const WITHOUT_METHOD = [
  'GET /v1/device-credentials',
  'POST /v1/device-credentials',
  'DELETE /v1/device-credentials/{id}',
  'POST /v1/device-credentials/{id}/rotate',
  'GET /.well-known/statement-keys.json',
  'GET /.well-known/jwks.json',
  'GET /v1/revocations/{tenant}',
  'POST /join',
];

describe('the SDK for TypeScript', () => {
  const folder = join(import.meta.dirname, '../../sdk/typescript/src/backend');
  const texts = globSync('*.ts', { cwd: folder, exclude: ['*-types.ts'] })
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');

  test('has a method for every operation of a back end', async () => {
    const operations = Object.entries((await describeRest()).paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(operations.filter((each) => !texts.includes(`'${each}'`))).toStrictEqual(WITHOUT_METHOD);
    // The SDKs set budgets over REST, as alerts and the other settings of money.
    const services = SERVICES.filter(({ name }) => name !== 'BudgetService');
    const methods = services.flatMap((service) => service.methods.map(({ localName }) => localName));
    expect(methods.filter((each) => !texts.includes(`method.${each}`))).toStrictEqual([]);
  });

  test('has no method that the driver leaves out', () => {
    const url = 'http://service.test';
    const client = new Boxoffice({ url, controlUrl: url, apiKey: 'x' });
    const offered = Object.entries(client).flatMap(([service, methods]) =>
      Object.getOwnPropertyNames(Object.getPrototypeOf(methods))
        .filter((name) => name !== 'constructor')
        .map((name) => `${snakeCase(service)}.${snakeCase(name)}`),
    );
    const driven = [CALLS, LISTS, WATCHES].flatMap((each) => Object.keys(each));
    expect(offered.toSorted()).toStrictEqual(driven.toSorted());
  });
});

describe('the steps', () => {
  test('have names of their own', () => {
    expect(new Set(STEPS.map(({ name }) => name)).size).toBe(STEPS.length);
  });

  test('call every method, with success', () => {
    const names = STEPS.map(({ name }) => name);
    const methods = [...Object.keys(CALLS), ...Object.keys(LISTS), ...Object.keys(WATCHES), 'sign_up'];
    expect(methods.filter((method) => !names.includes(method))).toStrictEqual([]);
  });

  test('expect every reason, with its code', () => {
    const rows = [...ERRORS.native, ...ERRORS.anytime, ...ERRORS.conditions];
    const missing = rows.filter(
      (row) =>
        row.reason !== undefined &&
        !EXPECTED.some(({ code, reason }) => code === row.code && reason === row.reason),
    );
    expect(missing).toStrictEqual([]);
  });

  test('expect every kind, code and status', () => {
    const has = (name: string, value: unknown) => EXPECTED.some((error) => error[name] === value);
    const kinds = [...ERRORS.kinds, ...ERRORS.statuses].map(({ kind }) => kind);
    expect(kinds.filter((kind) => !has('kind', kind))).toStrictEqual([]);
    expect(ERRORS.kinds.filter(({ code }) => !has('code', code))).toStrictEqual([]);
    expect(ERRORS.statuses.filter(({ status }) => !has('code', status))).toStrictEqual([]);
  });
});

describe('outcomes', () => {
  test('are normalised: what differs by nature is masked, and what is empty is left out', () => {
    const uid = `rm_${'a'.repeat(32)}`;
    const outcome = {
      ok: { uid, name: 'lobby', locked: false, devices: [], create_time: '2026-01-02T03:04:05.6Z', seq: 7 },
      error: { code: '404', message: 'of this SDK', fields: [''], has_request_id: false },
    };
    expect(normalise(outcome)).toStrictEqual({
      ok: { uid: '<uid>', name: 'lobby', create_time: '<create_time>', seq: '<seq>' },
      error: { code: 404 },
    });
  });

  test('show what has not the right form', () => {
    const ok = { uid: 'lobby', create_time: 1_767_323_045, seq: '0x7' };
    expect(normalise({ ok })).toStrictEqual({ ok });
  });

  test('keep the words of the service', () => {
    const error = { message: 'not found', has_request_id: true };
    expect(normalise({ error })).toStrictEqual({ error });
  });

  test('must be what a step expects', () => {
    const outcome = { ok: { name: 'lobby', rooms: [1, 2] } };
    expect(mismatches({ ok: { name: /^lob/, rooms: [1, 2], error: undefined } }, outcome)).toStrictEqual([]);
    expect(mismatches({ ok: { name: 'attic' } }, outcome)).toStrictEqual([
      'ok.name: "lobby" instead of "attic"',
    ]);
    expect(mismatches({ ok: { name: undefined } }, outcome)).toHaveLength(1);
    expect(mismatches({ ok: { rooms: [1] } }, outcome)).toHaveLength(1);
    expect(mismatches({ error: { kind: 'NotFound' } }, outcome)).toHaveLength(1);
  });

  test('must be those of the reference', () => {
    expect(differences({ a: [{ b: 1 }] }, { a: [{ b: 1 }] })).toStrictEqual([]);
    expect(differences({ a: 1 }, { a: 1, b: 2 })).toStrictEqual(['b: 2 instead of nothing']);
    expect(differences({ a: 1, b: 2 }, { a: 1 })).toStrictEqual(['b: nothing instead of 2']);
  });
});

/** A driver that answers each operation as the script says. */
function scriptedDriver(script: string): Driver {
  const loop = `require('node:readline').createInterface(process.stdin).on('line', (line) => {
    const { id, op } = JSON.parse(line);
    const print = (answer) => console.log(JSON.stringify({ id, ...answer }));
    ${script}
  });`;
  return new Driver([process.execPath, '-e', loop]);
}

describe('a driver', () => {
  test('answers operations in any order, and ends with its input', async () => {
    const driver = scriptedDriver(`setTimeout(() => print({ ok: { op } }), op === 'slow' ? 50 : 0);`);
    const answers = await Promise.all([driver.ask({ op: 'slow' }), driver.ask({ op: 'fast' })]);
    expect(answers).toStrictEqual([{ ok: { op: 'slow' } }, { ok: { op: 'fast' } }]);
    expect(await driver.stop()).toBe(0);
  });

  test('that ends too early is told, and so is one that cannot be started', async () => {
    const driver = scriptedDriver(`process.exit(3);`);
    expect(await driver.ask({ op: 'call' })).toStrictEqual({ error: { kind: 'DriverEnded' } });
    expect(await driver.ask({ op: 'call' })).toStrictEqual({ error: { kind: 'DriverEnded' } });
    expect(await driver.stop()).toBe(3);
    const absent = new Driver(['/nowhere/driver']);
    expect(await absent.ask({ op: 'call' })).toStrictEqual({ error: { kind: 'DriverEnded' } });
    expect(await absent.stop()).toBeNull();
    expect(absent.printed).toContain('/nowhere/driver');
  });

  test('that goes on after its input ended is killed', async () => {
    const driver = scriptedDriver(`setInterval(() => {}, 1000); print({ ok: {} });`);
    await driver.ask({ op: 'call' });
    expect(await driver.stop()).toBeNull();
  });

  test('may not show a key in an error', async () => {
    const driver = scriptedDriver(
      `print({ error: { kind: 'Invalid', message: 'svc_0123456789abcdef_secret' } });`,
    );
    expect((await driver.ask({ op: 'call' })).error.kind).toBe('ShowsTheKey');
    await driver.stop();
  });
});

test('a driver that cannot be built is a step that failed, and the others are not run', async () => {
  const told: string[] = [];
  const result = await runLanguage('broken', {} as World, {
    languages: { broken: () => Promise.reject(new Error('it does not compile')) },
    onStep: (name) => told.push(name),
  });
  expect([...result.steps].map(([name, { problems }]) => [name, problems])).toStrictEqual([
    [FIRST_STEP, ['it does not compile']],
  ]);
  expect(told).toStrictEqual([FIRST_STEP]);
});

test('the table has a row for each step, and a column for each language', () => {
  const step = (problems: string[]): StepResult => ({ outcome: {}, problems, ms: 1 });
  const results: LanguageResult[] = [
    {
      language: 'one',
      steps: new Map([
        [FIRST_STEP, step([])],
        ['a step', step([])],
        ['of relays', { ...step([]), isLacking: true }],
      ]),
      ms: 1234,
    },
    { language: 'two', steps: new Map([['a step', step(['ok: 1 instead of 2'])]]), ms: 1 },
    { language: 'broken', steps: new Map([[FIRST_STEP, step(['it does not compile'])]]), ms: 0 },
    { language: 'three', missing: 'three is not installed', steps: new Map(), ms: 0 },
  ];
  expect(renderTable(results).split('\n')).toStrictEqual([
    '| Step | one | two | broken | three |',
    '| --- | --- | --- | --- | --- |',
    '| the driver is built | in 0.0 s | not run | FAILED | not run |',
    '| a step | ok | FAILED | not run | not run |',
    '| of relays | not there | not run | not run | not run |',
    '| passed | 2 of 3 in 1.2 s | 0 of 1 in 0.0 s | 0 of 1 in 0.0 s | three is not installed |',
  ]);
  expect(renderProblems(results)).toStrictEqual([
    'two: a step: ok: 1 instead of 2',
    'broken: the driver is built: it does not compile',
  ]);
});
