/**
 * The order of every step of several transactions is decided by a seed: as the product is, no order does harm, and each rule that
 * is taken away is found.
 *
 * `SCHEDULES=1000 SEED=5000 npm test -- test/schedules` runs so many for each scenario, from that seed on, and prints what it took to
 * find each race.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { loadRates } from '../../src/money/pricing/rate-cards.ts';
import { useDatabase } from '../support/database.ts';
import { OPERATOR } from '../support/tenants.ts';
import { PLAYS, type Planted, RACES } from './races.ts';
import { explore, shrink } from './support/explore.ts';
import type { Play } from './support/scenario.ts';
import { chooseAsIn, chooseBySeed, renderTurns, turnsOf } from './support/schedule.ts';
import { Stage } from './support/stage.ts';

const SCHEDULES = Number(process.env.SCHEDULES ?? 20);
const SEED = Number(process.env.SEED ?? 1);
const RACE_SCHEDULES_MAX = 10_000;
const TURNS_MAX = 10;
const REPLAYS = 100;
/** A busy machine takes longer for many schedules. */
const TIMEOUT_MS = 300_000 + SCHEDULES * 1_000;

const database = useDatabase({ makesUpEvents: true });
let stage: Stage;
beforeAll(async () => {
  stage = new Stage(database.url);
  await loadRates(stage.db, OPERATOR, undefined);
});
afterAll(() => stage.close());
afterEach(() => stage.plant());

const titleOf = ({ name, wasReal }: Planted) => (wasReal ? `${name} (was real)` : name);

test('docs/trust.md has each race, and how many scenarios there are', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/trust.md'), 'utf8');
  const rows = [...page.matchAll(/^\| ([^|]+?) +\| ([^|]+?) +\| [\d, ]+\| [\d-]+ +\|$/gm)];
  expect(rows.map(([, part, race]) => [part, race])).toEqual(RACES.map((race) => [race.part, titleOf(race)]));
  expect(page).toContain(`${PLAYS.length} scenarios`);
});

describe.skipIf(inject('citusServers').length > 0)('in every order', () => {
  const doesNoHarm = async (_: string, playOn: (stage: Stage) => Play) => {
    const play = playOn(stage);
    const found = await explore(play, { most: SCHEDULES, first: SEED });
    if (!found) return;
    const { violation, trace, choices } = await shrink(play, found.run);
    expect.fail(
      [`${violation}, by seed ${found.seed}, at least by ${renderTurns(choices)}:`, ...trace].join('\n'),
    );
  };
  test.each(PLAYS)('%s does no harm', doesNoHarm, TIMEOUT_MS);

  test.each(PLAYS)('%s goes the same way again', async (_, playOn) => {
    const play = playOn(stage);
    await play(chooseAsIn([]));
    for (let seed = SEED; seed < SEED + Math.ceil(REPLAYS / PLAYS.length); seed += 1) {
      const { trace, choices } = await play(chooseBySeed(seed));
      expect((await play(chooseBySeed(seed))).trace).toEqual(trace);
      expect((await play(chooseAsIn(choices))).trace).toEqual(trace);
    }
  });
});

describe.skipIf(inject('citusServers').length > 0)('a rule that is taken away is found', () => {
  const table: Record<string, string | number>[] = [];
  afterAll(() => {
    if (process.env.SCHEDULES !== undefined) console.table(table);
  });

  test.each(RACES)('$part: $name', async (race) => {
    const play = await race.plant(stage);
    const found = await explore(play, { most: RACE_SCHEDULES_MAX, first: SEED });
    expect(stage.isUnused).toBe(false);
    expect(found, `not found in ${RACE_SCHEDULES_MAX} schedules`).toBeDefined();
    const { run, schedules } = found!;
    const least = await shrink(play, run);
    const again = await play(chooseAsIn(least.choices));
    expect(again.violation).toBe(least.violation);
    stage.plant();
    expect((await race.play(stage)(chooseAsIn(least.choices))).violation).toBe(undefined);
    expect(turnsOf(least.choices).length).toBeLessThanOrEqual(TURNS_MAX);
    table.push({
      part: race.part,
      race: titleOf(race),
      schedules,
      'turns found': turnsOf(run.choices).length,
      turns: turnsOf(least.choices).length,
      schedule: renderTurns(least.choices),
      violation: least.violation!.slice(0, 70),
    });
  });
});
