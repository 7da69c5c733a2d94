/** What a campaign came to: one line, and an exit code. */
import type { Control } from './controls.ts';
import type { Judgement } from './judge.ts';

export interface Judged extends Pick<Judgement, 'problems' | 'looked'> {
  /** What had to be found. */
  readonly control: Control | undefined;
  /** Why the campaign has not come to its end; `undefined`: it has. */
  readonly cutShort: string | undefined;
}

const AS_EXPECTED = 0;
const FOUND = 1;
export const CUT_SHORT = 3;

/** A rule that failed itself has found nothing. */
const FAILED = ': the check failed: ';

/** The rules of the control that have found what it broke. Other rules do not show that these work. */
export function rulesThatFound({
  control,
  problems,
}: Pick<Judged, 'control' | 'problems'>): readonly string[] {
  const found = problems.filter((line) => !line.includes(FAILED));
  return control?.foundBy.filter((rule) => found.some((line) => line.startsWith(`${rule}: `))) ?? [];
}

/** A campaign that was cut short says nothing of the rest, so its code is the same whatever it has found. */
export function exitCodeOf(judged: Judged): number {
  if (judged.cutShort !== undefined) return CUT_SHORT;
  const isAsExpected = judged.control ? rulesThatFound(judged).length > 0 : judged.problems.length === 0;
  return isAsExpected ? AS_EXPECTED : FOUND;
}

/** In one line. */
export function renderVerdict(judged: Judged): string {
  const { control, cutShort } = judged;
  if (cutShort !== undefined) return `Not finished: ${cutShort}. ${describeCheck(judged)}`;
  if (control === undefined) return describeCheck(judged);
  const rules = rulesThatFound(judged);
  return rules.length > 0
    ? `The control ${control.name} was found, by: ${rules.join('; ')}`
    : `The control ${control.name} was not found by: ${control.foundBy.join('; ')}`;
}

function describeCheck({ problems, looked }: Judged): string {
  if (problems.length > 0) return `Something is wrong: ${problems.length} lines under "Problems"`;
  const counts = Object.values(looked);
  if (counts.length === 0) return 'Nothing was checked';
  return `Nothing is wrong, by ${counts.filter((count) => count > 0).length} of ${counts.length} rules: the others had nothing to compare`;
}
