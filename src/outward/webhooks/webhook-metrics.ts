/** Metrics of webhooks. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export type WebhookMetrics = ReturnType<typeof webhookMetrics>;

export function webhookMetrics(registry: Registry) {
  return {
    webhookDeliveries: new Counter({
      name: 'boxoffice_webhook_deliveries_total',
      help: 'Attempts to send an event to a webhook, by kind and outcome: delivered, refused (another status than 2xx) or unanswered.',
      labelNames: ['kind', 'outcome'],
      registers: [registry],
    }),
    webhookDuration: new Histogram({
      name: 'boxoffice_webhook_duration_seconds',
      help: 'Time from the start of a request to a webhook to its outcome.',
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
      registers: [registry],
    }),
    webhookCuts: new Counter({
      name: 'boxoffice_webhook_cuts_total',
      help: 'Requests to slow receivers that were cut off because other webhooks needed their place.',
      registers: [registry],
    }),
    webhooksPaused: new Gauge({
      name: 'boxoffice_webhooks_paused',
      help: 'Webhooks that the service has paused, because their deliveries failed.',
      // Every process counts the whole deployment.
      aggregator: 'max',
      registers: [registry],
    }),
    webhookLag: new Gauge({
      name: 'boxoffice_webhook_lag_seconds',
      help: 'Age of the oldest event that waits for a webhook which is not paused.',
      // Every process measures the whole deployment.
      aggregator: 'max',
      registers: [registry],
    }),
    /** Export how full the lanes are, read at each scrape. */
    watchWebhookLanes: (count: () => readonly { lane: string; taken: number; waiting: number }[]): void => {
      const gauge = new Gauge({
        name: 'boxoffice_webhook_lanes',
        help: 'Places of a lane that are taken, and webhooks that wait for one, by lane and state.',
        labelNames: ['lane', 'state'],
        registers: [registry],
        collect: () => {
          for (const { lane, taken, waiting } of count()) {
            gauge.set({ lane, state: 'taken' }, taken);
            gauge.set({ lane, state: 'waiting' }, waiting);
          }
        },
      });
    },
  };
}
