/** Service settings in benchmarks: no payments and no request logs. */
import type { Pool } from '../src/base/db/pool.ts';
import { makeLog } from '../src/base/telemetry/log.ts';
import type { Deps } from '../src/doors/deps.ts';
import { makeDeps, type ServiceConfig } from '../src/run/service.ts';
import { bareConfig } from '../test/support/bare-config.ts';

export const log = makeLog('warn');

export function serviceConfig(databaseUrl: string): ServiceConfig {
  return { ...bareConfig(databaseUrl), publicUrl: 'http://127.0.0.1' };
}

/** For a single part of the service, on a pool of its own. */
export function depsOn(db: Pool): Deps {
  const pools = { db, admissionDb: db, backgroundDb: db, watchDb: db };
  return makeDeps({ config: serviceConfig(''), pools, log, provider: undefined, wakeTopUps: () => {} });
}
