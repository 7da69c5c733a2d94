import { expect, test } from 'vitest';
import { LANES } from '../../faults/inject/fault.ts';
import { FAULTS } from '../../faults/inject/faults.ts';
import { KINDS } from '../../faults/load/kinds.ts';
import { makePlan, type Plan, type PlannedStep } from '../../faults/plan.ts';

const OPTIONS = { seed: 7, minutes: 60, tenants: 2 };
const STEPS = 200;

function take(steps: Iterator<PlannedStep>): unknown[] {
  return Array.from({ length: STEPS }, () => steps.next().value);
}

/** All that a plan decides, up to some steps of each client. */
function textOf({ faults, clients }: Plan): string {
  const steps = clients.map(({ number, tenant, kind, steps }) => {
    return [number, tenant, kind.name, take(steps())];
  });
  return JSON.stringify([faults, steps]);
}

test('the same seed makes the same plan, and another one another', () => {
  const plan = textOf(makePlan(OPTIONS));
  expect(textOf(makePlan(OPTIONS))).toBe(plan);
  expect(textOf(makePlan({ ...OPTIONS, seed: 8 }))).not.toBe(plan);
});

test('what one client does depends on no other', () => {
  const [one] = makePlan(OPTIONS).clients;
  const [same] = makePlan({ ...OPTIONS, tenants: 1, minutes: 1 }).clients;
  expect(take(one!.steps())).toEqual(take(same!.steps()));
});

test('an hour has at least 2,000 faults, and some of each kind', () => {
  const { faults } = makePlan(OPTIONS);
  expect(faults.length).toBeGreaterThan(2_000);
  expect(new Set(faults.map(({ lane, name }) => `${lane}: ${name}`))).toEqual(
    new Set(FAULTS.map(({ lane, name }) => `${lane}: ${name}`)),
  );
});

test('faults of one lane come one after another, within the time', () => {
  const { faults } = makePlan(OPTIONS);
  for (const lane of LANES) {
    const own = faults.filter((fault) => fault.lane === lane);
    expect(
      own.every(({ atMs }, at) => at === 0 || atMs >= own[at - 1]!.atMs + own[at - 1]!.seconds * 999),
    ).toBe(true);
  }
  expect(Math.max(...faults.map(({ atMs }) => atMs))).toBeLessThan(60 * 60_000);
});

test('every kind of load has clients of each tenant', () => {
  const { clients } = makePlan(OPTIONS);
  for (const kind of KINDS)
    for (const tenant of [0, 1])
      expect(clients.filter((each) => each.kind === kind && each.tenant === tenant)).toHaveLength(
        kind.clients,
      );
  expect(clients.map(({ number }) => number)).toEqual(clients.map((_, at) => at));
});

test('two faults of one lane have two names', () => {
  const names = FAULTS.map(({ lane, name }) => `${lane}: ${name}`);
  expect(new Set(names).size).toBe(names.length);
});
