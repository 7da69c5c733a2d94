/** A kind of load: what its clients choose to do, which the plan draws, and how they do it. */
import type { Random } from '../random.ts';
import type { Client } from './client.ts';

export interface KindOf<Step> {
  readonly name: string;
  /** For each tenant. */
  readonly clients: number;
  /** Between two steps, on average. */
  readonly pauseSeconds: number;
  /** Depends on nothing but the source, so that a plan can be repeated. */
  draw(random: Random): Step;
  /** Called once for each client, before the faults begin. Returns what does a step. */
  open(client: Client): Promise<(step: Step) => Promise<void>>;
}

export type Kind = KindOf<unknown>;

export function kind<Step>(row: KindOf<Step>): Kind {
  return row as Kind;
}
