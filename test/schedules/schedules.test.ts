/**
 * The order of every step of several transactions is decided by a seed: as the product is, no order does harm, and each rule that
 * is taken away is found.
 *
 * `npm run schedules` runs more of them, and prints what docs/campaign.md has. `SCHEDULES`: how many for each scenario, `REPLAYS`: how many
 * are played again, `SEEDS=1,5000`: where to begin, for races once from each seed.
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
const REPLAYS = Number(process.env.REPLAYS ?? Math.ceil(100 / PLAYS.length));
const SEEDS = (process.env.SEEDS ?? '1').split(',').map(Number);
const SEED = SEEDS[0]!;
const RACE_SCHEDULES_MAX = 10_000;
const TURNS_MAX = 10;
/** A busy machine takes longer for many schedules. */
const TIMEOUT_MS = 300_000 + (SCHEDULES + REPLAYS) * 1_000;

const database = useDatabase({ makesUpEvents: true });
let stage: Stage;
beforeAll(async () => {
  stage = new Stage(database.url);
  await loadRates(stage.db, OPERATOR, undefined);
});
afterAll(() => stage.close());
afterEach(() => stage.plant());

const counts = { scenarios: 0, harmless: 0, replays: 0 };
const found: string[] = [];
afterAll(() => {
  if (process.env.SCHEDULES === undefined) return;
  const { scenarios, harmless, replays } = counts;
  const summary = `${scenarios} scenarios, ${harmless} schedules without harm, ${replays} replays that went the same way`;
  console.log([summary, ...found].join('\n'));
});

const titleOf = ({ name, wasReal }: Planted) => (wasReal ? `${name} (was real)` : name);

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

test('docs/campaign.md has each race, and how many scenarios and schedules there are', () => {
  const page = read('docs/campaign.md');
  const rows = [...page.matchAll(/^\| ([^|]+?) +\| ([^|]+?) +\| ([\d, ]+?) +\| [\d-]+ +\|$/gm)];
  expect(rows.map(([, part, race]) => [part, race])).toEqual(RACES.map((race) => [race.part, titleOf(race)]));
  // What the command runs by default.
  const [, schedules, replays, seeds] =
    /SCHEDULES:-(\d+).*REPLAYS:-(\d+).*SEEDS:-([\d,]+)/.exec(read('package.json')) ?? [];
  const words = page.replaceAll(/\s+/g, ' ');
  expect(words).toContain(`${PLAYS.length} scenarios, ${schedules} schedules and ${replays} replays of each`);
  expect(words).toContain(`from the seeds ${seeds!.replaceAll(',', ', ')}`);
  for (const [, , race, tries] of rows)
    expect(tries!.split(', '), race).toHaveLength(seeds!.split(',').length);
});

describe.skipIf(inject('citusServers').length > 0)('in every order', () => {
  const doesNoHarm = async (_: string, playOn: (stage: Stage) => Play) => {
    const play = playOn(stage);
    const harm = await explore(play, { most: SCHEDULES, first: SEED });
    if (!harm) {
      counts.scenarios += 1;
      counts.harmless += SCHEDULES;
      return;
    }
    const { violation, trace, choices } = await shrink(play, harm.run);
    expect.fail(
      [`${violation}, by seed ${harm.seed}, at least by ${renderTurns(choices)}:`, ...trace].join('\n'),
    );
  };
  test.each(PLAYS)('%s does no harm', doesNoHarm, TIMEOUT_MS);

  const goesAgain = async (_: string, playOn: (stage: Stage) => Play) => {
    const play = playOn(stage);
    await play(chooseAsIn([]));
    for (let seed = SEED; seed < SEED + REPLAYS; seed += 1) {
      const { trace, choices } = await play(chooseBySeed(seed));
      expect((await play(chooseBySeed(seed))).trace).toEqual(trace);
      expect((await play(chooseAsIn(choices))).trace).toEqual(trace);
      counts.replays += 1;
    }
  };
  test.each(PLAYS)('%s goes the same way again', goesAgain, TIMEOUT_MS);
});

/** Returns how many schedules it took from a seed on, and how many turns are left of what was found. */
async function findRace(race: Planted, seed: number): Promise<{ schedules: number; turns: number }> {
  const play = await race.plant(stage);
  const harm = await explore(play, { most: RACE_SCHEDULES_MAX, first: seed });
  expect(stage.isUnused).toBe(false);
  expect(harm, `not found in ${RACE_SCHEDULES_MAX} schedules`).toBeDefined();
  const least = await shrink(play, harm!.run);
  const again = await play(chooseAsIn(least.choices));
  expect(again.violation).toBe(least.violation);
  stage.plant();
  expect((await race.play(stage)(chooseAsIn(least.choices))).violation).toBe(undefined);
  return { schedules: harm!.schedules, turns: turnsOf(least.choices).length };
}

describe.skipIf(inject('citusServers').length > 0)('a rule that is taken away is found', () => {
  test.each(RACES)('$part: $name', async (race) => {
    const tries: { schedules: number; turns: number }[] = [];
    for (const seed of SEEDS) tries.push(await findRace(race, seed));
    const turns = tries.map((each) => each.turns);
    const [least, most] = [Math.min(...turns), Math.max(...turns)];
    expect(most).toBeLessThanOrEqual(TURNS_MAX);
    const schedules = tries.map((each) => each.schedules).join(', ');
    found.push(
      `| ${race.part} | ${titleOf(race)} | ${schedules} | ${least === most ? most : `${least}-${most}`} |`,
    );
  });
});
