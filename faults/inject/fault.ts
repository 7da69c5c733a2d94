/** A kind of fault. */
import type { Stage } from '../stage/stage.ts';

/** Faults of one lane come one after another; those of different lanes meet. */
export const LANES = [
  'first service',
  'second service',
  'server',
  'connections',
  'network of the first service',
  'network of the second service',
  'provider',
  'receivers',
] as const;

export type Lane = (typeof LANES)[number];

/** Choices that the plan has made. */
export interface Choice {
  /** Until it is mended. */
  readonly seconds: number;
  /** From 0 to 1, for whatever else is to be chosen. */
  readonly dice: number;
}

/** `false`: nothing has met the fault while it was there, so it is not counted. */
export type Mend = () => unknown;

export interface Fault {
  readonly name: string;
  readonly lane: Lane;
  /** How often it is chosen among those of its lane. */
  readonly weight: number;
  /** The shortest and the longest time until it is mended. */
  readonly seconds: readonly [number, number];
  /** By so much it makes a clock wrong. */
  shiftMs?(choice: Choice): number;
  /** Why it cannot happen here; `undefined`: it can. */
  findObstacle?(stage: Stage): string | undefined;
  /** Returns what mends it, if it does not pass by itself. Fails if there was nothing to disturb, as a connection of a database that is down. */
  happen(stage: Stage, choice: Choice): Promise<undefined | Mend>;
}
