/** What the product's functions get from the process of an actor, and what they refuse. Nothing goes on by itself. */
import pino from 'pino';
import type { Pool } from '../../../src/base/db/pool.ts';
import { Failure } from '../../../src/base/failure.ts';
import type { Deps } from '../../../src/doors/deps.ts';
import { depsOn } from '../../control/watchdogs/support.ts';

export const QUIET = pino({ level: 'silent' });

const processes = new WeakMap<Pool, Deps>();

/** Those of the process that has this pool. Events wait for a number until an actor gives them one. */
export function depsOf(db: Pool): Deps {
  const known = processes.get(db);
  if (known) return known;
  const deps = depsOn(db);
  deps.events.wake = () => {};
  processes.set(db, deps);
  return deps;
}

/** Whether it was done. Failures of this kind are refusals. */
export async function wasDone(work: Promise<unknown>, refusal: Failure['kind']): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (error instanceof Failure && error.kind === refusal) return false;
    throw error;
  }
}
