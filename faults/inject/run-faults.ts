/** Lets the faults of a plan happen, each lane by itself. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Plan, PlannedFault } from '../plan.ts';
import { Gone } from '../stage/gone.ts';
import type { Stage } from '../stage/stage.ts';
import { LANES, type Lane } from './fault.ts';
import { FAULTS } from './faults.ts';

/** How often each fault happened, and how often it was tried in vain. */
export class FaultCounts {
  /** It disturbed something. */
  readonly happened = new Map<string, number>();
  /** There was nothing to disturb, as a connection of a server that was down, or a call to the provider while it fails. */
  readonly missed = new Map<string, number>();
  /** Those that cannot happen on this machine, and why. */
  readonly leftOut = new Map<string, string>();
  /** What is wrong now. */
  readonly current = new Set<string>();

  /** Those that happened. */
  get total(): number {
    return sumOf(this.happened);
  }

  get missedTotal(): number {
    return sumOf(this.missed);
  }
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

/** Resolves when the last fault is mended, or soon after `stopping`. Throws `Gone` if something cannot be mended any more. */
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
  const shift = fault.shiftMs && { shiftMs: fault.shiftMs(planned) };
  counts.current.add(name);
  try {
    const mend = await fault.happen(stage, planned);
    await wait(seconds * 1_000, stopping);
    const hasHappened = (await mend?.()) !== false;
    add(hasHappened ? counts.happened : counts.missed, name);
    stage.journal.note('fault', { name, begunUs, detail: hasHappened ? lane : `${lane}, missed`, ...shift });
  } catch (error) {
    if (error instanceof Gone) throw error;
    add(counts.missed, name);
    stage.journal.note('fault', { name, begunUs, detail: `${lane}, missed`, ...shift });
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
