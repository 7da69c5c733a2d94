/** Measures CPU time by process. Linux only: elsewhere nothing is reported. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { CpuUse } from './benchmark.ts';

/** Fields of /proc/pid/stat; a tick is 10 ms wherever Node runs. Source: proc(5). */
const TICKS_PER_SECOND = 100;

interface Stat {
  readonly parent: number;
  /** CPU time of the process and of its ended children. */
  readonly seconds: number;
}

/** The ids of one process or of several that count together; `undefined`: unknown. */
type Processes = number | readonly number[] | undefined;

/** Measures the CPU time of processes with their descendants, and of this process alone. */
export class CpuMeter {
  readonly #roots: ReadonlyMap<string, Processes>;
  readonly #spent = new Map<string, number>();
  #before = new Map<string, number>();
  #begun = 0;
  #seconds = 0;

  /** Processes to watch, by name. */
  constructor(roots: Readonly<Record<string, Processes>>) {
    this.#roots = new Map(Object.entries(roots));
  }

  start(): void {
    this.#before = this.#measure();
    this.#begun = performance.now();
  }

  stop(): void {
    this.#seconds += (performance.now() - this.#begun) / 1000;
    for (const [name, seconds] of this.#measure()) {
      const spent = seconds - (this.#before.get(name) ?? 0);
      this.#spent.set(name, (this.#spent.get(name) ?? 0) + spent);
    }
  }

  /** Average number of cores that each kept busy. */
  get cores(): readonly (readonly [name: string, cores: number])[] {
    return [...this.#spent].map(([name, seconds]) => [name, seconds / this.#seconds] as const);
  }

  /** Seconds of CPU time that each has used between `start()` and `stop()`, in all. */
  get seconds(): ReadonlyMap<string, number> {
    return this.#spent;
  }

  #measure(): Map<string, number> {
    const stats = readStats();
    const measured = new Map<string, number>();
    for (const [name, processes] of this.#roots) {
      if (processes === process.pid) {
        const { user, system } = process.cpuUsage();
        measured.set(name, (user + system) / 1e6);
        continue;
      }
      const roots = [processes ?? []].flat().filter((root) => stats.has(root));
      if (roots.length > 0)
        measured.set(
          name,
          roots.reduce((sum, root) => sum + sumTree(stats, root), 0),
        );
    }
    return measured;
  }
}

/** The process ids of what a benchmark measures; the generator is this process. */
export interface Measured {
  /** The process that serves, or several that serve together. Absent: only PostgreSQL serves the requests. */
  readonly pid?: number | readonly number[];
  readonly postmaster: number | readonly number[] | undefined;
}

/** Do `work`, and measure the CPU time of each of its requests. */
export async function measureCpu<T extends { readonly requests: number }>(
  { pid, postmaster }: Measured,
  work: () => Promise<T>,
): Promise<T & { readonly cpu: CpuUse }> {
  const meter = new CpuMeter({ service: pid, postgres: postmaster, generator: process.pid });
  meter.start();
  const done = await work();
  meter.stop();
  const micros = (part: keyof CpuUse) => ((meter.seconds.get(part) ?? Number.NaN) * 1e6) / done.requests;
  const service = pid === undefined ? 0 : micros('service');
  return { ...done, cpu: { service, postgres: micros('postgres'), generator: micros('generator') } };
}

/** `undefined` if it cannot be read. */
export function parentOf(pid: number): number | undefined {
  return readStat(pid)?.parent;
}

function sumTree(stats: ReadonlyMap<number, Stat>, root: number): number {
  let sum = stats.get(root)?.seconds ?? 0;
  for (const [pid, { parent }] of stats) if (parent === root) sum += sumTree(stats, pid);
  return sum;
}

function readStats(): Map<number, Stat> {
  const stats = new Map<number, Stat>();
  if (!existsSync('/proc/self/stat')) return stats;
  for (const name of readdirSync('/proc')) {
    const stat = /^[0-9]+$/.test(name) ? readStat(Number(name)) : undefined;
    if (stat) stats.set(Number(name), stat);
  }
  return stats;
}

function readStat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is a name in brackets, which may contain any character.
    const [, parent, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [user, system, ...ofChildren] = rest.slice(9, 13).map((ticks) => Number(ticks) / TICKS_PER_SECOND);
    const threads = Number(rest[15]);
    const own = (threads === 1 ? readNanoseconds(pid) : undefined) ?? user! + system!;
    return { parent: Number(parent), seconds: ofChildren.reduce((sum, each) => sum + each, own) };
  } catch {
    // The process has ended, or there is no /proc.
    return undefined;
  }
}

/**
 * The CPU time of the main thread, in seconds. A tick is coarse where PostgreSQL divides a short round among
 * twenty processes. `undefined` where the kernel does not account it.
 */
function readNanoseconds(pid: number): number | undefined {
  try {
    const [running] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
    return Number(running) > 0 ? Number(running) / 1e9 : undefined;
  } catch {
    return undefined;
  }
}
