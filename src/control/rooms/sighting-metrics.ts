/** Metrics of who was last seen by relays. */
import { Counter, type Registry } from 'prom-client';

export type SightingMetrics = ReturnType<typeof sightingMetrics>;

export function sightingMetrics(registry: Registry) {
  return {
    sightingsDropped: new Counter({
      name: 'boxoffice_sightings_dropped_total',
      help: 'Usage records whose presence information was dropped because the write queue was full. All were charged.',
      registers: [registry],
    }),
  };
}
