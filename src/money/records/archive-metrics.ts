/** Metrics of the archive of usage records. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { BaseDeps } from '../../base/deps.ts';
import { findArchiveState } from './archive-state.sql.ts';
import type { KnownFilters } from './known-ids/known-filters.ts';

export type ArchiveMetrics = ReturnType<typeof archiveMetrics>;

export function archiveMetrics(registry: Registry) {
  // Every process measures the whole deployment.
  const measured = { aggregator: 'max' as const, registers: [registry] };
  return {
    archivedRecords: new Counter({
      name: 'boxoffice_archived_records_total',
      help: 'Usage records that this process has moved into the archive.',
      registers: [registry],
    }),
    archiveDuration: new Histogram({
      name: 'boxoffice_archive_duration_seconds',
      help: 'Time to move the records of a chunk, and to delete their rows.',
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60],
      registers: [registry],
    }),
    storedRecords: new Gauge({
      name: 'boxoffice_stored_records',
      help: 'Usage records by store: rows, as PostgreSQL estimates, or archive.',
      labelNames: ['store'],
      ...measured,
    }),
    storedBytes: new Gauge({
      name: 'boxoffice_stored_records_bytes',
      help: 'What usage records take by store: rows or archive. With indexes.',
      labelNames: ['store'],
      ...measured,
    }),
    archiveLag: new Gauge({
      name: 'boxoffice_archive_lag_seconds',
      help: 'Age of the oldest usage record that is not archived.',
      ...measured,
    }),
    filterBytes: new Gauge({
      name: 'boxoffice_archive_filter_bytes',
      help: 'Memory of the filters of archived ids.',
      registers: [registry],
    }),
  };
}

type MeasureDeps = Pick<BaseDeps, 'db'> & {
  readonly metrics: ArchiveMetrics;
  readonly knownFilters: Pick<KnownFilters, 'bytes'>;
};

export async function measureArchive({ db, metrics, knownFilters }: MeasureDeps): Promise<void> {
  metrics.filterBytes.set(knownFilters.bytes);
  const { rows, archived, rowBytes, archivedBytes, oldestSeconds } = await findArchiveState(db);
  if (rows !== null) metrics.storedRecords.set({ store: 'rows' }, rows);
  metrics.storedRecords.set({ store: 'archive' }, archived);
  metrics.storedBytes.set({ store: 'rows' }, rowBytes);
  metrics.storedBytes.set({ store: 'archive' }, archivedBytes);
  metrics.archiveLag.set(oldestSeconds);
}
