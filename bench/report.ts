/** Renders results as text, and describes the machine. */
import { cpus, totalmem } from 'node:os';
import type { ComparisonResult, ContestantResult, GoalResult, Note, Result } from './benchmark.ts';
import type { Range } from './statistics.ts';

export interface Machine {
  readonly date: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly node: string;
  readonly platform: string;
}

const PARAGRAPH_WIDTH = 100;

export function describeMachine(): Machine {
  return {
    date: new Date().toISOString(),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
  };
}

export function renderReport(machine: Machine, results: readonly Result[]): string {
  const { date, cpu, cores, memoryGb, node, platform } = machine;
  const head = `${date}  ${cpu}, ${cores} cores, ${memoryGb} GB, ${platform}, Node ${node}`;
  return `${[head, ...results.map(renderResult)].join('\n\n')}\n`;
}

function renderResult(result: Result): string {
  const { name, protocol, seconds, isWhole, database, comparisons, notes } = result;
  const facts = database && [
    `PostgreSQL ${database.postgres}, fsync ${database.fsync}, synchronous_commit ${database.synchronousCommit}`,
  ];
  return [
    `${name}: ${isWhole ? '' : 'not finished, '}${seconds} s`,
    ...indent([
      ...wrap(protocol),
      ...(facts ?? []),
      ...comparisons.flatMap(renderComparison),
      ...(notes.length > 0 ? ['', ...notes.flatMap(renderNote)] : []),
    ]),
  ].join('\n');
}

const HEADINGS = [
  '',
  'median',
  'lowest-highest',
  'x floor',
  'lowest-highest',
  'p50 ms',
  'p99 ms',
  'Node us',
  'PostgreSQL us',
  'generator us',
];

function renderComparison({ title, unit, contestants, goals }: ComparisonResult): string[] {
  const rows = contestants.map(renderContestant);
  // Empty columns are left out.
  const columns = HEADINGS.map((_, at) => at).filter((at) => rows.some((row) => row[at]));
  const table = [HEADINGS, ...rows].map((row) => columns.map((at) => row[at]!));
  return ['', `${title} (${unit})`, ...indent([...align(table), ...goals.map(renderGoal)])];
}

function renderContestant({ name, median, range, ratio, latency, cpu }: ContestantResult): string[] {
  return [
    name,
    round(median),
    renderRange(range),
    ratio ? round(ratio.median) : '',
    ratio ? renderRange(ratio.range) : '',
    latency ? round(latency.p50) : '',
    latency ? round(latency.p99) : '',
    cpu ? round(cpu.service) : '',
    cpu ? round(cpu.postgres) : '',
    cpu ? round(cpu.generator) : '',
  ];
}

function renderNote({ name, value, unit, goal }: Note): string[] {
  return [`${name}: ${round(value)} ${unit}`, ...(goal ? indent([renderGoal(goal)]) : [])];
}

function renderGoal({ text, reached, met }: GoalResult): string {
  return `goal: ${text}: ${met ? 'met' : 'MISSED'} (${round(reached)})`;
}

function renderRange([low, high]: Range): string {
  return `${round(low)}-${round(high)}`;
}

/** Three significant digits, but all digits of the integer part. */
function round(value: number): string {
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

/** Aligns the first column to the left, numbers to the right. */
function align(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('  ')
      .trimEnd(),
  );
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => (line === '' ? '' : `  ${line}`));
}

function wrap(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const longer = `${lines.at(-1) ?? ''} ${word}`.trim();
    if (lines.length === 0 || longer.length > PARAGRAPH_WIDTH) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}
