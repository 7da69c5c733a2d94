/** What nearly every operation needs from outside. A feature adds its own needs in an interface beside it. */
import type { Logger } from 'pino';
import type { Pool } from './db/pool.ts';
import type { Metrics } from './telemetry/metrics.ts';

export interface BaseDeps {
  readonly db: Pool;
  readonly log: Logger;
  readonly metrics: Metrics;
}
