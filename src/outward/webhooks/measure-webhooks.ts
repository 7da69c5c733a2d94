/** Export how webhooks are doing. */
import type { BaseDeps } from '../../base/deps.ts';
import { measureCursors } from './webhook-cursors.sql.ts';
import type { WebhookMetrics } from './webhook-metrics.ts';

export async function measureWebhooks({
  db,
  metrics,
}: Pick<BaseDeps, 'db'> & { readonly metrics: WebhookMetrics }): Promise<void> {
  const { paused, lagSeconds } = await measureCursors(db);
  metrics.webhooksPaused.set(paused);
  metrics.webhookLag.set(lagSeconds);
}
