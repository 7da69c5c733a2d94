/** The results as a table of steps and languages, in Markdown. */
import { STEPS } from './steps/index.ts';
import { FIRST_STEP, type LanguageResult, type StepResult } from './suite.ts';

export function renderTable(results: readonly LanguageResult[]): string {
  const names = [...new Set(results.flatMap(({ steps }) => [...steps.keys()]))];
  const head = ['Step', ...results.map(({ language }) => language)];
  const rows = names.map((name) => [
    labelOf(name),
    ...results.map(({ steps }) => renderCell(name, steps.get(name))),
  ]);
  const last = ['passed', ...results.map(renderCount)];
  return [head, head.map(() => '---'), ...rows, last].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Steps where a script stands in for the real service say so. */
function labelOf(name: string): string {
  const against = STEPS.find((step) => step.name === name)?.against;
  return against === undefined ? name : `${name} (against ${against})`;
}

function renderCell(name: string, result: StepResult | undefined): string {
  if (!result) return 'not run';
  if (result.problems.length > 0) return 'FAILED';
  if (result.isLacking) return 'not there';
  return name === FIRST_STEP ? `in ${secondsOf(result.ms)}` : 'ok';
}

function renderCount({ steps, missing, ms }: LanguageResult): string {
  if (missing !== undefined) return missing;
  const passed = [...steps.values()].filter(({ problems, isLacking }) => problems.length === 0 && !isLacking);
  return `${passed.length} of ${steps.size} in ${secondsOf(ms)}`;
}

const secondsOf = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** What is wrong, one line each. */
export function renderProblems(results: readonly LanguageResult[]): string[] {
  return results.flatMap(({ language, steps }) =>
    [...steps].flatMap(([name, { problems }]) =>
      problems.map((problem) => `${language}: ${name}: ${problem}`),
    ),
  );
}
