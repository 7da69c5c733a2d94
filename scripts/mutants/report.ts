/** Results of the mutants as text. */
import type { Mutant } from './mutant.ts';

export const OUTCOMES = ['killed', 'timed out', 'survived', 'invalid'] as const;

export interface Result {
  readonly mutant: Mutant;
  /** `invalid`: the tests could not run with this mutant. */
  readonly outcome: (typeof OUTCOMES)[number];
  readonly seconds: number;
  /** The test that failed first, or why the tests could not be run. */
  readonly by?: string;
}

export interface Summary {
  readonly counts: Readonly<Record<Result['outcome'], number>>;
  /** Percentage of valid mutants that a test noticed. A time-out counts as noticed. */
  readonly score: number | null;
}

export function summarize(results: readonly Result[]): Summary {
  const count = (outcome: Result['outcome']) => results.filter((each) => each.outcome === outcome).length;
  const counts = Object.fromEntries(OUTCOMES.map((each) => [each, count(each)])) as Summary['counts'];
  const noticed = counts.killed + counts['timed out'];
  const valid = noticed + counts.survived;
  return { counts, score: valid === 0 ? null : Math.round((1000 * noticed) / valid) / 10 };
}

export function renderProgress(result: Result, done: number, total: number): string {
  const { mutant, outcome, seconds, by } = result;
  const place = `[${String(done).padStart(String(total).length)}/${total}]`;
  const why = by ? `  (${by.split('\n')[0]})` : '';
  return `${place} ${outcome.padEnd(9)} ${seconds.toFixed(1).padStart(6)} s  ${describe(mutant)}${why}`;
}

export function renderReport(results: readonly Result[], noted: readonly string[]): string {
  const { counts, score } = summarize(results);
  const survivors = results.filter(({ outcome }) => outcome === 'survived');
  const seconds = results.reduce((sum, each) => sum + each.seconds, 0);
  const lines = [
    ...(survivors.length > 0 ? ['Survivors:', ...survivors.map(renderSurvivor), ''] : []),
    ...noted.map((file) => `Left out, since it fails without any mutant: ${file}`),
    OUTCOMES.map((outcome) => `${counts[outcome]} ${outcome}`).join(', '),
    `Score: ${score === null ? 'none' : `${score.toFixed(1)} %`} of ${results.length} mutants, in ${Math.round(seconds)} s`,
  ];
  return `${lines.join('\n')}\n`;
}

function renderSurvivor({ mutant }: Result): string {
  return `  ${describe(mutant)}\n      ${mutant.code}`;
}

function describe({ file, line, what }: Mutant): string {
  return `${file}:${line}  ${what}`;
}
