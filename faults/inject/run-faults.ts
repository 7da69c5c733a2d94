/** Lets the faults of a plan happen, each lane by itself. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Plan, PlannedFault } from '../plan.ts';
import type { Stage } from '../stage/stage.ts';
import { LANES, type Lane } from './fault.ts';
import { FAULTS } from './faults.ts';

/** How often each fault happened. */
export class FaultCounts {
  readonly happened = new Map<string, number>();
  /** There was nothing to disturb, as a connection of a server that was down. */
  readonly missed = new Map<string, number>();
  /** Those that cannot happen on this machine, and why. */
  readonly leftOut = new Map<string, string>();
  /** What is wrong now. */
  readonly current = new Set<string>();

  get total(): number {
    return [...this.happened.values()].reduce((sum, count) => sum + count, 0);
  }
}

/** Resolves when the last fault is mended, or soon after `stopping`. */
export async function runFaults(
  plan: Plan,
  stage: Stage,
  counts: FaultCounts,
  stopping: AbortSignal,
): Promise<void> {
  const begun = performance.now();
  await Promise.all(
    LANES.map(async (lane) => {
      for (const planned of plan.faults.filter((fault) => fault.lane === lane)) {
        await wait(planned.atMs - (performance.now() - begun), stopping);
        if (stopping.aborted) return;
        await happen(planned, lane, stage, counts, stopping);
      }
    }),
  );
}

async function happen(
  planned: PlannedFault,
  lane: Lane,
  stage: Stage,
  counts: FaultCounts,
  stopping: AbortSignal,
): Promise<void> {
  const { name, seconds } = planned;
  const fault = FAULTS.find((each) => each.name === name && each.lane === lane)!;
  const obstacle = fault.findObstacle?.(stage);
  if (obstacle !== undefined) return void counts.leftOut.set(name, obstacle);
  const begunUs = stage.journal.now();
  counts.current.add(name);
  try {
    const mend = await fault.happen(stage, planned);
    await wait(seconds * 1_000, stopping);
    await mend?.();
    add(counts.happened, name);
    stage.journal.note('fault', { name, begunUs, detail: lane });
  } catch {
    add(counts.missed, name);
    stage.journal.note('fault', { name, begunUs, detail: `${lane}, missed` });
  } finally {
    counts.current.delete(name);
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

async function wait(ms: number, stopping: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal: stopping }).catch(() => {});
}
