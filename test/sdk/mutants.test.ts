/** Rules of the SDKs, which `npm run mutants -- --sdk <language>` breaks: the table fits the code, and a broken one is noticed. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { copyWorkingTree } from '../../scripts/mutants/scratch-copy.ts';
import { breakRule, SdkTrial } from '../../scripts/mutants/sdk.ts';
import { type Language, RULES, type Rule, SOURCES } from '../../sdk/conformance/mutants.ts';
import type { Step } from '../../sdk/conformance/step.ts';
import { STEPS } from '../../sdk/conformance/steps/index.ts';
import { openWorld, type World } from '../../sdk/conformance/world.ts';
import { useDatabase } from '../support/database.ts';

const ROOT = join(import.meta.dirname, '../..');
const LANGUAGES = Object.keys(SOURCES) as Language[];

test.for(RULES)('$rule: a step may notice, and each language can break it', (rule) => {
  expect(STEPS.filter(({ name }) => name.includes(rule.step))).not.toStrictEqual([]);
  for (const language of LANGUAGES) {
    const { replacement, start, end, file } = breakRule(ROOT, language, rule);
    expect(readFileSync(join(ROOT, file), 'utf8').slice(start, end)).not.toBe(replacement);
  }
});

test('there are twenty rules at least, each once', () => {
  expect(new Set(RULES.map(({ rule }) => rule)).size).toBe(RULES.length);
  expect(RULES.length).toBeGreaterThanOrEqual(20);
});

describe('a broken rule', () => {
  const database = useDatabase();
  const secrets = RULES.find(({ rule }) => rule.startsWith('a webhook may be signed'));
  const steps = STEPS.filter(({ name }) => name.includes(secrets!.step));
  let root: string;
  let world: World;
  beforeAll(async () => {
    root = join(mkdtempSync(join(tmpdir(), 'boxoffice-mutants-')), 'tree');
    copyWorkingTree(ROOT, root);
    world = await openWorld({ databaseUrl: database.url });
  });
  afterAll(async () => {
    await world?.close();
    rmSync(join(root, '..'), { recursive: true });
  });

  const trialWith = (all: readonly Step[]) =>
    new SdkTrial({ language: 'typescript', root, world, steps: all });

  test('is noticed by the step of the rule, and mended again', async () => {
    const trial = trialWith(steps);
    expect(await trial.findUnsound([secrets!])).toStrictEqual([]);
    const { outcome, by, mutant } = await trial.judge(secrets!);
    expect([outcome, by]).toStrictEqual(['killed', expect.stringContaining('signed by the second')]);
    for (const file of [ROOT, root].map((each) => join(each, mutant.file))) {
      expect(readFileSync(file, 'utf8')).toContain(secrets!.typescript[1]);
    }
  });

  test('survives steps that pass, and a step that fails anyway is told', async () => {
    const passes = { ...steps[0]!, run: async () => ({}), expect: {} };
    const trial = trialWith([passes]);
    expect(await trial.findUnsound([secrets!])).toStrictEqual([]);
    expect((await trial.judge(secrets!)).outcome).toBe('survived');
    expect(await trialWith([{ ...passes, expect: { good: true } }]).findUnsound([secrets!])).toStrictEqual([
      `${passes.name}: good: nothing instead of true`,
    ]);
  });

  test('cannot be made of a text that is not there, or twice', () => {
    const [file] = secrets!.typescript;
    const changed = (from: string): Rule => ({ ...secrets!, typescript: [file, from, ''] });
    expect(() => breakRule(root, 'typescript', changed('nowhere in it'))).toThrow('has not once');
    expect(() => breakRule(root, 'typescript', changed('WebhookRefused'))).toThrow('has not once');
  });
});
