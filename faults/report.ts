/** What a campaign came to, as Markdown and as JSON. */
import { CONTROLS, type Control } from './controls.ts';
import { type Environment, renderEnvironment } from './environment.ts';
import { FaultCounts } from './inject/run-faults.ts';
import type { Judgement } from './judge.ts';
import { makePlan, type Plan } from './plan.ts';
import type { TopUpCounts } from './top-ups.ts';
import { findNotShown, type Judged, renderVerdict } from './verdict.ts';

export interface Report extends Judgement, Judged {
  readonly plan: Plan;
  /** Those of the problems that were found before the check, which cannot find them again. */
  readonly foundBefore: readonly string[];
  /** What the control has done. */
  readonly controlled: string | undefined;
  /** `undefined`: it ended before its PostgreSQL served. */
  readonly environment: Environment | undefined;
  /** While faults happened. */
  readonly seconds: number;
  /** In all, with the check. */
  readonly tookSeconds: number;
  readonly counts: { readonly records: number; readonly answers: number };
  /** As of the journal: operations, and operations with their outcomes. */
  readonly operations: ReadonlyMap<string, number>;
  readonly faults: FaultCounts;
  readonly topUps: TopUpCounts;
  /** The version whose rules have judged it again, later. */
  readonly checkedBy?: string;
}

/** The report of a campaign that has not begun. What it came to is filled in. */
export function emptyReport(plan: Plan, control: Control | undefined, cutShort: string): Report {
  return {
    ...{ plan, control, cutShort, environment: undefined, controlled: undefined },
    ...{ seconds: 0, tookSeconds: 0, counts: { records: 0, answers: 0 } },
    ...{ operations: new Map(), faults: new FaultCounts(), topUps: {} },
    ...{ problems: [], foundBefore: [], looked: {}, notLooked: [] },
  };
}

/** Faults that cannot happen on this machine, and what rules could not look at. */
function listNotLooked({ notLooked, faults }: Report): readonly string[] {
  return [...[...faults.leftOut].map(([name, why]) => `${name}: ${why}`), ...notLooked];
}

function commandOf({ minutes, seed, tenants }: Plan, control: Control | undefined): string {
  const options = `--minutes ${minutes} --seed ${seed} --tenants ${tenants}`;
  return `npm run faults -- ${options}${control === undefined ? '' : ` --control ${control.name}`}`;
}

export function renderMarkdown(report: Report): string {
  const { environment, problems, operations, faults, looked } = report;
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
    `# ${renderVerdict(report)}`,
    ...(environment === undefined ? [] : [renderEnvironment(environment)]),
    summarize(report),
    `## Problems`,
    listOf(problems, 'None.'),
    `## Not shown`,
    listOf(findNotShown(report), 'Nothing.'),
    `## Not looked at`,
    listOf(listNotLooked(report), 'Nothing.'),
    `## Faults`,
    table(['Fault', 'Times', 'Had nothing to disturb'], faultRows),
    `## Operations`,
    table(['Operation', 'Succeeded', 'Refused', 'Unknown'], operationRows),
    `## Automatic top-ups`,
    table(['Ended as', 'Attempts'], Object.entries(report.topUps)),
    `## Rules`,
    table(['Rule', 'Looked at'], Object.entries(looked)),
  ].join('\n\n');
}

/** What a reader of a console has to know, at its end. */
export function renderEnd(report: Report): string {
  const sections = [
    ['Not shown:', findNotShown(report)],
    ['Not looked at:', listNotLooked(report)],
  ] as const;
  const told = sections.flatMap(([title, lines]) => (lines.length === 0 ? [] : [title, listOf(lines, '')]));
  return [...told, renderVerdict(report)].join('\n');
}

function summarize(report: Report): string {
  const { plan, seconds, tookSeconds, counts, faults, control, controlled, checkedBy } = report;
  return [
    `Seed ${plan.seed}, ${plan.tenants} tenants, ${plan.clients.length} clients, ${seconds} s of faults, ${tookSeconds} s in all.`,
    `${faults.total} faults, ${counts.records} records charged, ${counts.answers} answers.`,
    `${faults.missedTotal} more attempts had nothing to disturb, and are not among the faults.`,
    `The same plan again: \`${commandOf(plan, control)}\`.`,
    ...(control === undefined ? [] : [`Control: ${control.name}${controlled ? ` (${controlled})` : ''}.`]),
    ...(checkedBy === undefined ? [] : [`Checked again by version ${checkedBy}.`]),
  ].join('\n');
}

function listOf(lines: readonly string[], none: string): string {
  return lines.length === 0 ? none : lines.map((line) => `- ${line}`).join('\n');
}

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, at) => (at === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}

export function renderJson(report: Report): string {
  const { plan, control, faults, operations, notLooked: _, ...rest } = report;
  const { seed, minutes, tenants, clients } = plan;
  const value = {
    ...{ verdict: renderVerdict(report), finished: rest.cutShort === undefined },
    ...{ seed, minutes, tenants, clients: clients.length },
    ...rest,
    ...(control && { control: control.name }),
    faults: Object.fromEntries(faults.happened),
    missed: Object.fromEntries(faults.missed),
    leftOut: Object.fromEntries(faults.leftOut),
    notShown: findNotShown(report),
    notLooked: listNotLooked(report),
    operations: Object.fromEntries(operations),
  };
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** The campaign of a report in JSON, without what the check has found. */
export function parseReport(text: string): Report {
  const { seed, minutes, tenants, control: name, faults, missed, leftOut, ...rest } = JSON.parse(text);
  const control = CONTROLS.find((each) => each.name === name);
  const counts = Object.assign(new FaultCounts(), {
    happened: new Map(Object.entries(faults)),
    missed: new Map(Object.entries(missed)),
    leftOut: new Map(Object.entries(leftOut)),
  });
  const base = emptyReport(makePlan({ seed, minutes, tenants }), control, '');
  const { environment, controlled, cutShort, seconds, tookSeconds, foundBefore, topUps } = rest;
  return {
    ...base,
    ...{ environment, controlled, cutShort, seconds, tookSeconds, foundBefore, topUps },
    ...{ counts: rest.counts, operations: new Map(Object.entries(rest.operations)), faults: counts },
  };
}
