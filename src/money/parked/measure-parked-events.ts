/** Shows how many provider events are parked, or fail and are tried again. */
import type { BaseDeps } from '../../base/deps.ts';
import { countOpenEvents } from './parked-events.sql.ts';
import type { ParkedMetrics } from './parked-metrics.ts';

export async function measureParkedEvents({
  db,
  metrics,
}: Pick<BaseDeps, 'db'> & { readonly metrics: ParkedMetrics }): Promise<void> {
  const { parked, failing } = await countOpenEvents(db);
  metrics.parkedNotifications.set({ state: 'parked' }, parked);
  metrics.parkedNotifications.set({ state: 'failing' }, failing);
}
