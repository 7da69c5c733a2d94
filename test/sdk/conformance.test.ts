/** The conformance suite: the same steps with the SDK of each language. See sdk/conformance/README.md. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LANGUAGES } from '../../sdk/conformance/languages.ts';
import { STEPS } from '../../sdk/conformance/steps/index.ts';
import {
  FIRST_STEP,
  LAST_STEP,
  type LanguageResult,
  REFERENCE,
  runLanguage,
} from '../../sdk/conformance/suite.ts';
import { openWorld, type World } from '../../sdk/conformance/world.ts';
import { useDatabase } from '../support/database.ts';

const database = useDatabase();
const results = new Map<string, LanguageResult>();
let world: World;

/** The first build of an SDK takes minutes, and more of them on a busy machine. */
const RUN_MS_MAX = 30 * 60_000;

beforeAll(async () => {
  world = await openWorld({ databaseUrl: database.url });
});
afterAll(() => world?.close());

/** All, or those of CONFORMANCE: the checks of one SDK ask for it and the reference. */
const languages = process.env.CONFORMANCE?.split(',') ?? Object.keys(LANGUAGES);

// The reference is first, so that the others can be compared with it.
describe.each(languages)('%s', (language) => {
  let result: LanguageResult;
  beforeAll(async () => {
    result = await runLanguage(language, world, { reference: results.get(REFERENCE) });
    results.set(language, result);
  }, RUN_MS_MAX);

  test.for([FIRST_STEP, ...STEPS.map(({ name }) => name), LAST_STEP])('%s', (name, { skip }) => {
    skip(result.missing !== undefined, result.missing);
    skip(name !== FIRST_STEP && result.steps.size === 1, 'the driver was not built');
    skip(result.steps.get(name)?.isLacking === true, 'the SDK has no such part');
    expect(result.steps.get(name)?.problems).toStrictEqual([]);
  });
});
