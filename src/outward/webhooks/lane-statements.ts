/**
 * Runs the statements of all turns, few at a time, so that they do not take every database connection. Each lane has its own: large
 * statements of tenants that never paid wait for each other alone.
 */
import { Lanes } from '../../base/lib/lanes.ts';
import { LANES, type Lane } from './delivery-lane.ts';

type RunStatement = <T>(work: () => Promise<T>) => Promise<T>;

const AT_ONCE: Readonly<Record<Lane, number>> = { fast: 2, slow: 1, pending_fast: 1, pending_slow: 1 };

export function laneStatements(): Readonly<Record<Lane, RunStatement>> {
  const ofLane = (lane: Lane): [Lane, RunStatement] => {
    const lanes = new Lanes(AT_ONCE[lane]);
    return [lane, (work) => lanes.run(work)];
  };
  return Object.fromEntries(LANES.map(ofLane)) as Record<Lane, RunStatement>;
}
