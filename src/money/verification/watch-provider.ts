/**
 * A regular comparison of what is booked here with the provider.
 *
 * One process of the deployment compares; the result is a row, and every process shows it as a metric.
 * A comparison reads lists of 100 objects, one call after the other, so it costs the provider little.
 * `npm run admin -- verify --payments` compares everything.
 */
import { renderTenantId } from '../../base/tenants/tenant.ts';
import type { Provider } from '../payments/provider.ts';
import { FIRST_SWEEP_SECONDS } from '../provider-events/event-sweeper.ts';
import { compareWithProvider } from './compare-provider.ts';
import type { DriftDeps } from './drift-metrics.ts';
import type { Period } from './provider-book.sql.ts';
import {
  claimComparison,
  findDrift,
  insertDrift,
  postponeComparison,
  updateDrift,
} from './provider-drift.sql.ts';

const EVERY_SECONDS = 3_600;

/** After differences, and after a failure: a difference may be an event that was still on its way. */
const AGAIN_SECONDS = 300;

/** What is younger is left to the next comparison: its event may be on its way. */
const GRACE_SECONDS = 300;

const LOGGED_MAX = 20;

/** Returns the work of one turn. A comparison ends early when `stopping` is aborted. */
export function watchProvider(
  deps: DriftDeps,
  provider: Provider,
  stopping: AbortSignal,
  { graceSeconds = GRACE_SECONDS } = {},
): () => Promise<void> {
  return async () => {
    await insertDrift(deps.db, AGAIN_SECONDS);
    const period = await claimComparison(deps.db, {
      everySeconds: EVERY_SECONDS,
      backSeconds: FIRST_SWEEP_SECONDS,
      graceSeconds,
    });
    try {
      if (period) await compareOnce(deps, provider, period, stopping);
    } catch (error) {
      await postponeComparison(deps.db, AGAIN_SECONDS);
      if (!stopping.aborted) throw error;
    } finally {
      await showDrift(deps);
    }
  };
}

async function compareOnce(
  deps: DriftDeps,
  { stripe }: Provider,
  period: Period,
  signal: AbortSignal,
): Promise<void> {
  let differences = 0;
  for await (const { tenant, ...rest } of compareWithProvider(deps.db, stripe, { period, signal })) {
    differences += 1;
    if (differences <= LOGGED_MAX) {
      deps.log.warn({ tenant: renderTenantId(tenant), ...rest }, 'the provider has another amount');
    }
  }
  await updateDrift(deps.db, differences);
  if (differences > 0) await postponeComparison(deps.db, AGAIN_SECONDS);
}

/** Also after a failure, so that the age shows that no comparison succeeds. */
async function showDrift({ db, metrics }: DriftDeps): Promise<void> {
  const drift = await findDrift(db);
  if (!drift) return;
  metrics.providerDrift.set(drift.differences);
  metrics.providerDriftAge.set(drift.ageSeconds);
}
