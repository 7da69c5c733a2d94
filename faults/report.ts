/** What a campaign came to, as Markdown and as JSON. */
import type { Control } from './controls.ts';
import type { FaultCounts } from './inject/run-faults.ts';
import type { Judgement } from './judge.ts';
import type { Plan } from './plan.ts';
import type { TopUpCounts } from './top-ups.ts';

export interface Report extends Judgement {
  readonly plan: Plan;
  /** What had to be found. */
  readonly control: Control | undefined;
  /** What the control has done. */
  readonly controlled: string | undefined;
  readonly seconds: number;
  readonly counts: { readonly records: number; readonly answers: number };
  /** As of the journal: operations, and operations with their outcomes. */
  readonly operations: ReadonlyMap<string, number>;
  readonly faults: FaultCounts;
  readonly topUps: TopUpCounts;
}

/** Whether it went as it should: nothing was found, or with a control, what it has broken. A rule that failed itself found nothing. */
export function isAsExpected({ control, problems }: Pick<Report, 'control' | 'problems'>): boolean {
  if (control === undefined) return problems.length === 0;
  return problems.some((line) => control.finds.test(line) && !line.includes(': the check failed: '));
}

/** What rules could not look at, and the rules that had nothing to compare. */
function listNotLooked({ notLooked, looked }: Judgement): string {
  const idle = Object.keys(looked).filter((rule) => looked[rule] === 0);
  const lines = [...notLooked, ...idle.map((rule) => `${rule}: there was nothing to compare`)];
  return lines.length === 0 ? 'Nothing.' : lines.map((line) => `- ${line}`).join('\n');
}

function commandOf({ minutes, seed, tenants }: Plan, control: Control | undefined): string {
  const options = `--minutes ${minutes} --seed ${seed} --tenants ${tenants}`;
  return `npm run faults -- ${options}${control === undefined ? '' : ` --control ${control.name}`}`;
}

export function renderMarkdown(report: Report): string {
  const { plan, seconds, counts, operations, faults, problems, looked, control, controlled } = report;
  const operationRows = [...operations.keys()]
    .filter((name) => !name.includes(' '))
    .toSorted()
    .map((name) => [
      name,
      ...['ok', 'refused', 'unknown'].map((each) => operations.get(`${name} ${each}`) ?? 0),
    ]);
  const faultRows = [...new Set([...faults.happened.keys(), ...faults.missed.keys()])]
    .toSorted()
    .map((name) => [name, faults.happened.get(name) ?? 0, faults.missed.get(name) ?? 0]);
  return [
    `# A campaign of faults`,
    [
      `Seed ${plan.seed}, ${plan.tenants} tenants, ${plan.clients.length} clients, ${seconds} s.`,
      `${faults.total} faults, ${counts.records} records charged, ${counts.answers} answers.`,
      `The same plan again: \`${commandOf(plan, control)}\`.`,
      ...(control === undefined ? [] : [`Control: ${control.name}${controlled ? ` (${controlled})` : ''}.`]),
    ].join('\n'),
    `## Problems`,
    problems.length === 0 ? 'None.' : problems.map((line) => `- ${line}`).join('\n'),
    `## Faults`,
    table(['Fault', 'Times', 'Had nothing to disturb'], faultRows),
    ...[...faults.leftOut].map(([name, why]) => `Left out: ${name}, because ${why}.`),
    `## Operations`,
    table(['Operation', 'Succeeded', 'Refused', 'Unknown'], operationRows),
    `## Automatic top-ups`,
    table(['Ended as', 'Attempts'], Object.entries(report.topUps)),
    `## Not looked at`,
    listNotLooked(report),
    `## Rules`,
    table(['Rule', 'Looked at'], Object.entries(looked)),
  ].join('\n\n');
}

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, at) => (at === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}

export function renderJson({ plan, control, faults, operations, ...report }: Report): string {
  const { seed, minutes, tenants, clients } = plan;
  const value = {
    ...{ seed, minutes, tenants, clients: clients.length },
    ...report,
    ...(control && { control: control.name }),
    faults: Object.fromEntries(faults.happened),
    missed: Object.fromEntries(faults.missed),
    leftOut: Object.fromEntries(faults.leftOut),
    operations: Object.fromEntries(operations),
  };
  return `${JSON.stringify(value, null, 2)}\n`;
}
