/** Runs the steps with one SDK after the other, and compares what comes of them. */
import { differences, mismatches } from './compare.ts';
import { Driver, type Json } from './driver.ts';
import { LANGUAGES } from './languages.ts';
import { normalise } from './normalise.ts';
import { startProxy } from './proxy.ts';
import { At, type Run, type Step } from './step.ts';
import { STEPS } from './steps/index.ts';
import type { World } from './world.ts';

/** The language that the others are compared with. */
export const REFERENCE = 'typescript';

/** How many steps run at the same time. */
const AT_ONCE = 8;

/** No step takes a third of it. */
const STEP_MS_MAX = 300_000;

export interface StepResult {
  /** Normalised. */
  readonly outcome: Json;
  /** What is wrong: with what the step expects, then with the reference. */
  readonly problems: readonly string[];
  readonly ms: number;
}

export interface LanguageResult {
  readonly language: string;
  /** Why there is no driver. There are no results then. */
  readonly missing?: string;
  readonly steps: ReadonlyMap<string, StepResult>;
  /** Without the build. */
  readonly ms: number;
}

export interface SuiteOptions {
  readonly steps?: readonly Step[];
  /** Results of the language that this one is compared with. */
  readonly reference?: LanguageResult | undefined;
}

const NOT_RUN: StepResult = { outcome: undefined, problems: ['it did not run'], ms: 0 };

/** The step at the end of each run: the driver has to end by itself. */
export const LAST_STEP = 'the driver ends with its input';

export async function runLanguage(
  language: string,
  world: World,
  { steps = STEPS, reference }: SuiteOptions = {},
): Promise<LanguageResult> {
  const find = LANGUAGES[language];
  if (!find)
    throw new Error(`there is no SDK for ${language}; there are ${Object.keys(LANGUAGES).join(', ')}`);
  const found = await find();
  if ('missing' in found) return { language, missing: found.missing, steps: new Map(), ms: 0 };

  const begun = performance.now();
  const driver = new Driver(found.command);
  const { port, grpcPort } = world.service;
  const [rest, control] = [await startProxy(port), await startProxy(grpcPort)];
  // In the order of the steps, whichever ends first.
  const results = new Map<string, StepResult>(steps.map(({ name }) => [name, NOT_RUN]));
  try {
    // The first answer may open the output, which then counts.
    await driver.ask({ op: 'tasks' });
    const tasksAtStart = (await driver.ask({ op: 'tasks' })).ok;
    const run = { world, driver, rest, control, tasksAtStart };
    const runStep = async (step: Step) => void results.set(step.name, await tryStep(step, run));
    const place = ({ isSlow = false }: Step) => (isSlow ? 0 : 1);
    const together = steps.filter(({ isAlone }) => !isAlone).toSorted((a, b) => place(a) - place(b));
    await Promise.all(Array.from({ length: AT_ONCE }, () => runEach(together, runStep)));
    for (const step of steps.filter(({ isAlone }) => isAlone)) await runStep(step);
  } finally {
    results.set(LAST_STEP, await endDriver(driver));
    await Promise.all([rest.close(), control.close()]);
  }
  return compareWith(reference, { language, steps: results, ms: performance.now() - begun });
}

/** Several of these take steps from the same list. */
async function runEach(steps: Step[], runStep: (step: Step) => Promise<void>): Promise<void> {
  for (let step = steps.shift(); step; step = steps.shift()) await runStep(step);
}

async function tryStep(step: Step, run: Run): Promise<StepResult> {
  const begun = performance.now();
  const at = new At(run);
  let outcome: Json;
  let problems: string[];
  try {
    outcome = normalise(await inTime(step.run(at)));
    problems = mismatches(step.expect, outcome);
  } catch (error) {
    problems = [error instanceof Error ? error.message : String(error)];
  }
  await at.end().catch((error: unknown) => problems.push(`at its end: ${String(error)}`));
  return { outcome, problems, ms: performance.now() - begun };
}

/** A wrong SDK may leave a step waiting without end. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${STEP_MS_MAX} ms`)), STEP_MS_MAX);
  });
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function endDriver(driver: Driver): Promise<StepResult> {
  const begun = performance.now();
  const exitCode = await driver.stop();
  const problems = exitCode === 0 ? [] : [`exit code ${exitCode}`, driver.printed].filter(Boolean);
  if (driver.hasShownKey) problems.push('it printed an API key');
  return { outcome: { exitCode }, problems, ms: performance.now() - begun };
}

/** Adds where the outcomes of a language differ from the reference. */
function compareWith(reference: LanguageResult | undefined, result: LanguageResult): LanguageResult {
  if (!reference || reference.missing !== undefined) return result;
  const steps = new Map<string, StepResult>();
  for (const [name, each] of result.steps) {
    const other = reference.steps.get(name);
    const isComparable = other?.outcome !== undefined && each.outcome !== undefined;
    const found = isComparable ? differences(other.outcome, each.outcome) : [];
    const told = found.map((line) => `unlike ${reference.language}: ${line}`);
    steps.set(name, { ...each, problems: [...each.problems, ...told] });
  }
  return { ...result, steps };
}
