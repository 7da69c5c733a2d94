/** Metrics of provider events that could not be applied. */
import { Gauge, type Registry } from 'prom-client';

export type ParkedMetrics = ReturnType<typeof parkedMetrics>;

export function parkedMetrics(registry: Registry) {
  return {
    parkedNotifications: new Gauge({
      name: 'boxoffice_parked_notifications',
      help: 'Notifications of the payment provider that could not be applied: parked, or failing and tried again.',
      labelNames: ['state'],
      // Every process counts the whole deployment.
      aggregator: 'max',
      registers: [registry],
    }),
  };
}
