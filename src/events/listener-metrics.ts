/** Metrics of listeners. */
import { Gauge, type Registry } from 'prom-client';

export type ListenerMetrics = ReturnType<typeof listenerMetrics>;

export function listenerMetrics(registry: Registry) {
  return {
    listenerLagEvents: new Gauge({
      name: 'boxoffice_listener_lag_events',
      help: 'Events that a listener has not handled yet, over all tenants.',
      labelNames: ['listener'],
      // Every process measures the whole deployment.
      aggregator: 'max',
      registers: [registry],
    }),
    listenerLagSeconds: new Gauge({
      name: 'boxoffice_listener_lag_seconds',
      help: 'Age of the oldest event that a listener has not handled yet.',
      labelNames: ['listener'],
      // Every process measures the whole deployment.
      aggregator: 'max',
      registers: [registry],
    }),
  };
}
