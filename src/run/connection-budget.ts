/** How many database connections a service may open. */
import { PROCESS_CONNECTIONS_MAX } from '../base/db/pool.ts';
import { StartError } from '../base/lib/start-error.ts';
import { ConfigError } from './config-error.ts';

/** For the pools of all workers together. PostgreSQL allows 100 by default, and other clients need some of them. */
const POOLS_CONNECTIONS = 80;
/** For the pools of one process, however many there are. */
const PROCESS_CONNECTIONS_MIN = 5;
/** On one, each process listens for events. */
const PROCESS_LISTENERS = 1;
/** For the console of operators, in the process that starts the workers. */
export const OPERATOR_CONNECTIONS_MAX = 4;

export interface ConnectionBudget {
  /** For the pools of each process. */
  readonly ofEach: number;
  /** Connections of all processes together, with those that listen and those of operators. */
  readonly total: number;
}

/**
 * The budget of `processes` that serve. `max`: what the operator allows in all; `undefined`: the default.
 *
 * Fails with `ConfigError` if `max` is too small for so many processes.
 */
export function budgetConnections(processes: number, max: number | undefined): ConnectionBudget {
  const beside = processes * PROCESS_LISTENERS + (processes === 1 ? 0 : OPERATOR_CONNECTIONS_MAX);
  const least = processes * PROCESS_CONNECTIONS_MIN + beside;
  if (max !== undefined && max < least) {
    throw new ConfigError(
      `DATABASE_CONNECTIONS_MAX must be ${least} or more when WORKERS is ${processes}, not "${max}"`,
    );
  }
  const forPools = max === undefined ? POOLS_CONNECTIONS : max - beside;
  const share = Math.max(PROCESS_CONNECTIONS_MIN, Math.floor(forPools / processes));
  const ofEach = Math.min(PROCESS_CONNECTIONS_MAX, share);
  return { ofEach, total: processes * ofEach + beside };
}

/** Fails with `StartError` if the processes could open more connections than the server allows. */
export function assertEnoughConnections(
  { connectionsMax }: { readonly connectionsMax: number },
  { total }: ConnectionBudget,
): void {
  if (total <= connectionsMax) return;
  throw new StartError(
    `the service may open ${total} database connections, and the server allows ${connectionsMax}: ` +
      'raise its max_connections, or lower DATABASE_CONNECTIONS_MAX or WORKERS',
  );
}
