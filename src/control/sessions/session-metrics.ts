/** The metric of sessions. */
import { Gauge, type Registry } from 'prom-client';
import type { BaseDeps } from '../../base/deps.ts';
import { findOldestUnassigned } from './session-cursors.sql.ts';

export type SessionMetrics = ReturnType<typeof sessionMetrics>;

export function sessionMetrics(registry: Registry) {
  return {
    sessionsLag: new Gauge({
      name: 'boxoffice_sessions_lag_seconds',
      help: 'Age of the oldest charge that is not assigned to a session yet.',
      // Every process measures the whole deployment.
      aggregator: 'max',
      registers: [registry],
    }),
  };
}

type MeasureDeps = Pick<BaseDeps, 'db'> & { readonly metrics: SessionMetrics };

export async function measureSessions({ db, metrics }: MeasureDeps): Promise<void> {
  metrics.sessionsLag.set(await findOldestUnassigned(db));
}
