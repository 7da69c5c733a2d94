/** Dependencies of nearly every operation. A feature extends this interface with its own. */
import type { Logger } from 'pino';
import type { Pool } from './db/pool.ts';
import type { BaseMetrics } from './telemetry/metrics.ts';

export interface BaseDeps {
  readonly db: Pool;
  readonly log: Logger;
  readonly metrics: BaseMetrics;
}
