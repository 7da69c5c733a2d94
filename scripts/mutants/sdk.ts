/** Break the rules of an SDK one at a time, in the scratch copy, and find the step of the conformance suite that notices. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { languagesIn } from '../../sdk/conformance/languages.ts';
import { type Language, type Rule, SOURCES } from '../../sdk/conformance/mutants.ts';
import type { Step } from '../../sdk/conformance/step.ts';
import { STEPS } from '../../sdk/conformance/steps/index.ts';
import { FIRST_STEP, type LanguageResult, REFERENCE, runLanguage } from '../../sdk/conformance/suite.ts';
import type { World } from '../../sdk/conformance/world.ts';
import { applyChange, type Mutant, makeMutant } from './mutant.ts';
import type { Result } from './report.ts';

/** How a language breaks a rule. Throws unless the text stands once in its file. */
export function breakRule(root: string, language: Language, rule: Rule): Mutant {
  const [name, from, replacement] = rule[language];
  const file = `${SOURCES[language]}/${name}`;
  const text = readFileSync(join(root, file), 'utf8');
  const start = text.indexOf(from);
  if (start < 0 || text.indexOf(from, start + 1) >= 0) throw new Error(`${file} has not once: ${from}`);
  return makeMutant(file, text, { start, end: start + from.length, replacement, kind: rule.rule });
}

export interface SdkTrialOptions {
  readonly language: Language;
  /** Root of the scratch copy. */
  readonly root: string;
  readonly world: World;
  /** What a mutant that its own step misses is tried with. */
  readonly steps?: readonly Step[];
}

/** Tries out mutants of one SDK. The suite itself, and the SDK that it uses, are those of the checkout. */
export class SdkTrial {
  readonly #options: SdkTrialOptions;
  readonly #steps: readonly Step[];
  #reference: LanguageResult | undefined;

  constructor(options: SdkTrialOptions) {
    this.#options = options;
    this.#steps = options.steps ?? STEPS;
  }

  /** Steps that fail without any mutant. They would be no proof. */
  async findUnsound(rules: readonly Rule[]): Promise<string[]> {
    const steps = this.#steps.filter(({ name }) => rules.some(({ step }) => name.includes(step)));
    this.#reference = await runLanguage(REFERENCE, this.#options.world, { steps });
    const found = await this.#run(steps);
    if (found.missing !== undefined) throw new Error(found.missing);
    return problemsOf(found).map(([name, problem]) => `${name}: ${problem}`);
  }

  async judge(rule: Rule): Promise<Result> {
    const started = performance.now();
    const mutant = breakRule(this.#options.root, this.#options.language, rule);
    const path = join(this.#options.root, mutant.file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, applyChange(text, mutant));
    try {
      const judged = await this.#tryOut(rule);
      return { mutant, seconds: Math.round(performance.now() - started) / 1000, ...judged };
    } finally {
      writeFileSync(path, text);
    }
  }

  async #tryOut({ step }: Rule): Promise<Pick<Result, 'outcome' | 'by'>> {
    const own = this.#steps.filter(({ name }) => name.includes(step));
    return (await this.#notice(own)) ?? (await this.#notice(this.#steps)) ?? { outcome: 'survived' };
  }

  async #notice(steps: readonly Step[]): Promise<Pick<Result, 'outcome' | 'by'> | undefined> {
    const failed = problemsOf(await this.#run(steps));
    const [first] = failed;
    if (first === undefined) return undefined;
    if (first[0] === FIRST_STEP) return { outcome: 'invalid', by: first[1] };
    // On a busy machine, a step may fail once. One that notices the mutant fails each time.
    const suspected = steps.filter(({ name }) => failed.some(([each]) => each === name));
    const again = problemsOf(await this.#run(suspected));
    return again[0] && { outcome: 'killed', by: `${again[0][0]}: ${again[0][1]}` };
  }

  async #run(steps: readonly Step[]): Promise<LanguageResult> {
    const { language, root, world } = this.#options;
    return await runLanguage(language, world, {
      steps,
      reference: this.#reference,
      languages: languagesIn(root),
    });
  }
}

function problemsOf({ steps }: LanguageResult): [step: string, problem: string][] {
  return [...steps].flatMap(([name, { problems }]) =>
    problems.slice(0, 1).map((each): [string, string] => [name, each]),
  );
}
