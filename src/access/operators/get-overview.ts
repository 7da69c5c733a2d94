/** Whether everything is well, for operators: the tenants, the money, what waits. */
import type { Db } from '../../base/db/pool.ts';
import { listLags } from '../../events/turns.sql.ts';
import { countTenants } from '../../money/overview/overview.sql.ts';
import { countOpenEvents } from '../../money/parked/parked-events.sql.ts';
import { findNewestRateCard } from '../../money/pricing/rate-cards.sql.ts';
import { findArchiveState } from '../../money/records/archive-state.sql.ts';
import { findDrift } from '../../money/verification/provider-drift.sql.ts';
import { findSigningKeys } from '../tokens/signing-keys.sql.ts';

export type Overview = Awaited<ReturnType<typeof getOverview>>;

/** `drift`: `undefined` if nothing was ever compared with the provider. `signing`: the key that signs tokens. */
export async function getOverview(db: Db) {
  return {
    tenants: await countTenants(db),
    parked: await countOpenEvents(db),
    drift: await findDrift(db),
    archive: await findArchiveState(db),
    lags: await listLags(db),
    card: await findNewestRateCard(db),
    signing: (await findSigningKeys(db)).find(({ state }) => state === 'active'),
  };
}
