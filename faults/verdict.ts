/** What a campaign came to: one line, and an exit code. */
import type { Control } from './controls.ts';
import type { Judgement } from './judge.ts';

export interface Judged extends Pick<Judgement, 'problems' | 'looked' | 'notLooked'> {
  /** What had to be found. */
  readonly control: Control | undefined;
  /** Why the campaign has not come to its end; `undefined`: it has. */
  readonly cutShort: string | undefined;
  readonly plan: { readonly tenants: number };
  /** While faults happened. */
  readonly seconds: number;
  readonly counts: { readonly records: number };
  readonly faults: { readonly total: number };
}

const AS_EXPECTED = 0;
const FOUND = 1;
/** It was cut short, or has shown too little. */
export const NOT_SHOWN = 3;

/** A rule that failed itself has found nothing. */
const FAILED = ': the check failed: ';

/** Records of a tenant that are charged in a second. A busy machine charges forty. */
const RECORDS_MIN = 1;

/** The rules of the control that have found what it broke. Other rules do not show that these work. */
export function rulesThatFound({
  control,
  problems,
}: Pick<Judged, 'control' | 'problems'>): readonly string[] {
  const found = problems.filter((line) => !line.includes(FAILED));
  return control?.foundBy.filter((rule) => found.some((line) => line.startsWith(`${rule}: `))) ?? [];
}

/** Why a campaign that finds nothing wrong says little, a line each. What this machine cannot do is told elsewhere. */
export function findNotShown({
  plan,
  seconds,
  counts: { records },
  faults,
  looked,
  notLooked,
}: Omit<Judged, 'control' | 'cutShort' | 'problems'>): readonly string[] {
  const wanted = Math.max(1, Math.ceil(RECORDS_MIN * seconds * plan.tenants));
  const idle = Object.keys(looked).filter(
    (rule) => looked[rule] === 0 && !notLooked.some((line) => line.startsWith(`${rule}: `)),
  );
  return [
    ...(faults.total === 0 ? ['no fault met anything'] : []),
    ...(records < wanted ? [`${records} records were charged, and ${wanted} at least should be`] : []),
    ...(Object.keys(looked).length === 0 ? ['no rule was run'] : []),
    ...idle.map((rule) => `${rule}: there was nothing to compare`),
  ];
}

/** A campaign that was cut short says nothing of the rest, so its code is the same whatever it has found. */
export function exitCodeOf(judged: Judged): number {
  if (judged.cutShort !== undefined) return NOT_SHOWN;
  if (judged.control) return rulesThatFound(judged).length > 0 ? AS_EXPECTED : FOUND;
  if (judged.problems.length > 0) return FOUND;
  return findNotShown(judged).length > 0 ? NOT_SHOWN : AS_EXPECTED;
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

function describeCheck(judged: Judged): string {
  const { problems, looked } = judged;
  if (problems.length > 0) return `Something is wrong: ${problems.length} lines under "Problems"`;
  const counts = Object.values(looked);
  if (counts.length === 0) return 'Nothing was checked';
  const notShown = findNotShown(judged).length;
  if (notShown > 0)
    return `Too little was shown: ${notShown} lines under "Not shown", and no problem in what was compared`;
  const idle = counts.filter((count) => count === 0).length;
  if (idle === 0) return `Nothing is wrong, by all ${counts.length} rules`;
  return `Nothing is wrong, by ${counts.length - idle} of ${counts.length} rules: the others are under "Not looked at"`;
}
