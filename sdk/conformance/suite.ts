/** Runs the steps with one SDK after the other, and compares what comes of them. */
import { differences, mismatches } from './compare.ts';
import { Driver, type Json } from './driver.ts';
import { type Found, LANGUAGES } from './languages.ts';
import { normalise } from './normalise.ts';
import { startProxy } from './proxy.ts';
import { At, Lacking, type Run, type Step } from './step.ts';
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
  /** The SDK has no such part. */
  readonly isLacking?: boolean;
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
  /** Is called when a step has ended. */
  readonly onStep?: (name: string, result: StepResult) => void;
  /** Others than those that there are, for tests. */
  readonly languages?: typeof LANGUAGES;
}

const NOT_RUN: StepResult = { outcome: undefined, problems: ['it did not run'], ms: 0 };

/** The step at the beginning of each run. It takes as long as the build. */
export const FIRST_STEP = 'the driver is built';
/** The step at the end of each run: the driver has to end by itself. */
export const LAST_STEP = 'the driver ends with its input';

export async function runLanguage(
  language: string,
  world: World,
  { steps = STEPS, reference, onStep = () => {}, languages = LANGUAGES }: SuiteOptions = {},
): Promise<LanguageResult> {
  const find = languages[language];
  if (!find)
    throw new Error(`there is no SDK for ${language}; there are ${Object.keys(languages).join(', ')}`);
  const results = new Map<string, StepResult>();
  const note = (name: string, result: StepResult) => {
    const compared = compareWith(reference, name, result);
    results.set(name, compared);
    onStep(name, compared);
  };
  const { found, built } = await build(find);
  if (found && 'missing' in found) return { language, missing: found.missing, steps: results, ms: 0 };
  note(FIRST_STEP, built);
  if (!found) return { language, steps: results, ms: 0 };

  // In the order of the steps, whichever ends first.
  for (const { name } of steps) results.set(name, NOT_RUN);
  const begun = performance.now();
  await runSteps(found.command, world, steps, note);
  return { language, steps: results, ms: performance.now() - begun };
}

/** `found` is undefined if the build failed. */
async function build(
  find: () => Promise<Found>,
): Promise<{ readonly found?: Found; readonly built: StepResult }> {
  const begun = performance.now();
  const resultWith = (problems: readonly string[]) => ({
    outcome: {},
    problems,
    ms: performance.now() - begun,
  });
  try {
    const found = await find();
    return { found, built: resultWith([]) };
  } catch (error) {
    return { built: resultWith([messageOf(error)]) };
  }
}

async function runSteps(
  command: readonly string[],
  world: World,
  steps: readonly Step[],
  note: (name: string, result: StepResult) => void,
): Promise<void> {
  const driver = new Driver(command);
  const { port, grpcPort } = world.service;
  const [rest, control] = [await startProxy(port), await startProxy(grpcPort)];
  try {
    // The first answer may open the output, which then counts.
    await driver.ask({ op: 'tasks' });
    const tasksAtStart = (await driver.ask({ op: 'tasks' })).ok;
    const run = { world, driver, rest, control, tasksAtStart };
    const runStep = async (step: Step) => note(step.name, await tryStep(step, run));
    const place = ({ isSlow = false }: Step) => (isSlow ? 0 : 1);
    const together = steps.filter(({ isAlone }) => !isAlone).toSorted((a, b) => place(a) - place(b));
    await Promise.all(Array.from({ length: AT_ONCE }, () => runEach(together, runStep)));
    for (const step of steps.filter(({ isAlone }) => isAlone)) await runStep(step);
  } finally {
    note(LAST_STEP, await endDriver(driver));
    await Promise.all([rest.close(), control.close()]);
  }
}

/** Several of these take steps from the same list. */
async function runEach(steps: Step[], runStep: (step: Step) => Promise<void>): Promise<void> {
  for (let step = steps.shift(); step; step = steps.shift()) await runStep(step);
}

async function tryStep(step: Step, run: Run): Promise<StepResult> {
  const begun = performance.now();
  const at = new At(run);
  let outcome: Json;
  let problems: string[] = [];
  let isLacking = false;
  try {
    outcome = normalise(await inTime(step.run(at)));
    problems = mismatches(step.expect, outcome);
  } catch (error) {
    isLacking = error instanceof Lacking;
    if (!isLacking) problems = [messageOf(error)];
  }
  await at.end().catch((error: unknown) => problems.push(`at its end: ${String(error)}`));
  return { outcome, problems, ms: performance.now() - begun, isLacking };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
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

/** Adds where the outcome of a step differs from that of the reference. */
function compareWith(reference: LanguageResult | undefined, name: string, result: StepResult): StepResult {
  const other = reference?.steps.get(name);
  if (!reference || other?.outcome === undefined || result.outcome === undefined) return result;
  const told = differences(other.outcome, result.outcome).map(
    (line) => `unlike ${reference.language}: ${line}`,
  );
  return { ...result, problems: [...result.problems, ...told] };
}
