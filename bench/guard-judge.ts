/** Compares the ratios of the guards with the committed ones, which `guard.json` holds. */
import { readFile, writeFile } from 'node:fs/promises';
import type { ComparisonResult, CpuUse, Result } from './benchmark.ts';

const FILE = new URL('./guard.json', import.meta.url);

/** How much larger than the committed ratio a ratio may be. */
const GROWTH_MAX = 0.2;

export interface Guarded {
  /** CPU time of ours as a multiple of that of the floor: smaller is better. */
  readonly ratio: number;
  /** Microseconds a request, of the service and PostgreSQL together. */
  readonly cpuUs: number;
  readonly floorCpuUs: number;
}

/** By name of the guard. */
export type Guards = Readonly<Record<string, Guarded>>;

export interface Judgement {
  readonly name: string;
  readonly measured: Guarded;
  readonly committed: Guarded;
  /** 0.2: the ratio is a fifth larger, which is worse. */
  readonly growth: number;
  readonly isWorse: boolean;
}

export function judge(measured: Guards, committed: Guards): Judgement[] {
  return Object.entries(measured).map(([name, now]) => {
    const before = committed[name];
    if (!before) throw new Error(`bench/guard.json has no ratio of ${name}; --update adds it`);
    const growth = now.ratio / before.ratio - 1;
    return { name, measured: now, committed: before, growth, isWorse: growth > GROWTH_MAX };
  });
}

/** Ratios of `text`, the content of `guard.json`. Throws where it names something else than `names`. */
export function parseGuards(text: string, names: readonly string[]): Guards {
  const guards = JSON.parse(text) as Record<string, Partial<Guarded>>;
  for (const [name, { ratio, cpuUs, floorCpuUs }] of Object.entries(guards)) {
    if (!names.includes(name)) {
      throw new Error(`bench/guard.json names ${name}, but the guards are ${names.join(', ')}`);
    }
    if (![ratio, cpuUs, floorCpuUs].every(isPositive)) {
      throw new Error(`bench/guard.json: ${name} needs ratio, cpuUs and floorCpuUs, each above 0`);
    }
  }
  return guards as Guards;
}

function isPositive(value: unknown): boolean {
  return typeof value === 'number' && value > 0;
}

/** What the results of guards say. Each has one comparison, of a floor and ours. */
export function guardsOf(results: readonly Result[]): Guards {
  return Object.fromEntries(
    results.map(({ name, comparisons }) => {
      const guarded = guardedOf(comparisons[0]!);
      if (Number.isNaN(guarded.ratio)) throw new Error(`${name}: the CPU time could not be measured`);
      return [name, guarded];
    }),
  );
}

function guardedOf({ contestants: [floor, ours] }: ComparisonResult): Guarded {
  return { ratio: ours!.ratio!.median, cpuUs: totalOf(ours!.cpu!), floorCpuUs: totalOf(floor!.cpu!) };
}

function totalOf({ service, postgres }: CpuUse): number {
  return service + postgres;
}

export async function readGuards(names: readonly string[]): Promise<Guards> {
  return parseGuards(await readFile(FILE, 'utf8'), names);
}

export async function writeGuards(guards: Guards): Promise<void> {
  const rounded = Object.entries(guards).map(([name, { ratio, cpuUs, floorCpuUs }]) => {
    const whole = { cpuUs: Math.round(cpuUs), floorCpuUs: Math.round(floorCpuUs) };
    return [name, { ratio: Number(ratio.toFixed(3)), ...whole }];
  });
  await writeFile(FILE, `${JSON.stringify(Object.fromEntries(rounded), null, 2)}\n`);
}

/** A line for each, and what to do if one is worse. */
export function renderJudgements(judgements: readonly Judgement[]): string {
  const worse = judgements.some(({ isWorse }) => isWorse) ? WHAT_TO_DO : '';
  return `${renderLines(judgements)}${worse}`;
}

const WHAT_TO_DO = `CPU time of a request, and of its floor, as medians of the rounds. On another machine, or beside other work, both differ, and so may
their ratio: run the guard again alone, and then on the commit before. CONTRIBUTING.md, "Benchmarks", says how to go on.
`;

function renderLines(judgements: readonly Judgement[]): string {
  const width = Math.max(...judgements.map(({ name }) => name.length));
  return judgements
    .map(({ name, measured, committed, growth, isWorse }) => {
      const change = `${growth < 0 ? '' : '+'}${Math.round(growth * 100)} %`;
      return [
        name.padEnd(width),
        measured.ratio.toFixed(3),
        `committed ${committed.ratio.toFixed(3)}`,
        change.padStart(6),
        `${renderCpu(measured)}, committed ${renderCpu(committed)}`,
        isWorse ? 'WORSE' : 'ok',
      ].join('  ');
    })
    .map((line) => `${line}\n`)
    .join('');
}

function renderCpu({ cpuUs, floorCpuUs }: Guarded): string {
  return `${Math.round(cpuUs)} us (floor ${Math.round(floorCpuUs)})`;
}
