/** How the service runs in benchmarks: without payments and without request logs. */
import type { Pool } from '../src/db/pool.ts';
import type { Deps } from '../src/deps.ts';
import { makeLog } from '../src/ops/log.ts';
import { makeDeps, type ServiceConfig } from '../src/service.ts';
import { bareConfig } from '../test/support/bare-config.ts';

export const log = makeLog('warn');

export function serviceConfig(databaseUrl: string): ServiceConfig {
  return { ...bareConfig(databaseUrl), publicUrl: 'http://127.0.0.1' };
}

/** For a part of the service that is measured by itself, on a pool of its own. */
export function depsOn(db: Pool): Deps {
  return makeDeps(serviceConfig(''), db, log, undefined, () => {});
}
