/** Metrics of mail. */
import { Counter, type Registry } from 'prom-client';

export type MailMetrics = ReturnType<typeof mailMetrics>;

export function mailMetrics(registry: Registry) {
  return {
    mails: new Counter({
      name: 'boxoffice_mails_total',
      help: 'Mails, by outcome: sent, retried, failed, expired (with its link), kept (no mail server is configured), suppressed (limit of a day).',
      labelNames: ['outcome'],
      registers: [registry],
    }),
  };
}
