/**
 * The service as a whole: given a database and settings, it opens its listeners and starts its
 * background work. `main.ts` runs it for the environment, tests for their own databases.
 */
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { buildRest } from './api/rest/server.ts';
import type { Config } from './config.ts';
import { migrate } from './db/migrate.ts';
import { openPool, type Pool } from './db/pool.ts';
import type { Deps } from './deps.ts';
import { FailedKeys } from './keys/failed-keys.ts';
import { KeyLookups } from './keys/key-lookups.ts';
import { startLedgerWatch } from './ledger/watch.ts';
import { StartError } from './lib/start-error.ts';
import { Metrics } from './ops/metrics.ts';
import { buildOps } from './ops/server.ts';
import { openProvider, type Provider } from './payments/provider.ts';
import { type PaymentsWorker, startPaymentsWorker } from './payments/worker.ts';
import { loadRates, RateCards, readRatesFile } from './pricing/rate-cards.ts';
import { watchRatesFile } from './pricing/watch-rates-file.ts';
import { SignupLimit } from './tenants/signup-limit.ts';
import { chargeFreeBatches, chargeTenant } from './usage/charge-batches.ts';
import { ChargeQueue } from './usage/charge-queue.ts';

export type ServiceConfig = Pick<
  Config,
  | 'host'
  | 'port'
  | 'opsPort'
  | 'publicUrl'
  | 'stripeSecretKey'
  | 'stripeWebhookSecrets'
  | 'stripeApiBase'
  | 'keyPrefix'
  | 'ratesFile'
  | 'trustProxy'
  | 'signupCheckoutCents'
  | 'billingRounding'
> & { readonly databaseUrl: string };

export interface Service {
  readonly port: number;
  readonly opsPort: number;
  readonly deps: Deps;
  /** Answer what was accepted, finish what is under way, and close. */
  stop(): Promise<void>;
}

/** A listener could not be opened; `variable` is the setting that chooses its port. */
export class ListenError extends StartError {
  override readonly name = 'ListenError';
}

export async function startService(config: ServiceConfig, log: Logger): Promise<Service> {
  const db = openPool(config.databaseUrl);
  db.on('error', (error) => log.warn({ err: error }, 'an idle database connection was lost'));
  try {
    await expect(() => db.query('select 1'), 'the database of DATABASE_URL cannot be opened');
    await migrate(db);
    const { ratesFile } = config;
    const card = ratesFile
      ? await expect(() => readRatesFile(ratesFile), 'RATES_FILE cannot be used')
      : undefined;
    await loadRates(db, card);
    return await open(config, db, log);
  } catch (error) {
    await db.end();
    throw error;
  }
}

/** What fails here is for the person who starts the service to mend, so it is told in one line. */
async function expect<T>(work: () => Promise<T>, what: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // A host with several addresses fails once for each of them, and then says nothing by itself.
    const { message, code } = error as NodeJS.ErrnoException;
    throw new StartError(`${what}: ${message || code}`, { cause: error });
  }
}

async function open(config: ServiceConfig, db: Pool, log: Logger): Promise<Service> {
  const provider = config.stripeSecretKey
    ? openProvider({
        secretKey: config.stripeSecretKey,
        webhookSecrets: config.stripeWebhookSecrets,
        apiBase: config.stripeApiBase,
      })
    : undefined;

  let worker: PaymentsWorker | undefined;
  const deps = makeDeps(config, db, log, provider, () => worker?.wakeTopUps());
  deps.metrics.watchPool(db);
  const state = { stopping: false };
  const rest = await buildRest(deps, { trustProxy: config.trustProxy });
  const ops = buildOps(deps, state);
  try {
    await listen(() => rest.listen({ host: config.host, port: config.port }), 'PORT', config.port);
    await listen(() => ops.listen({ host: config.host, port: config.opsPort }), 'OPS_PORT', config.opsPort);
  } catch (error) {
    await Promise.all([rest.close(), ops.close()]);
    throw error;
  }
  if (provider) worker = startPaymentsWorker(deps, provider);
  const ledgerWatch = startLedgerWatch(deps);
  const ratesWatch = config.ratesFile ? watchRatesFile(deps, config.ratesFile) : undefined;

  return {
    port: (rest.server.address() as AddressInfo).port,
    opsPort: (ops.server.address() as AddressInfo).port,
    deps,
    stop: async () => {
      state.stopping = true;
      ratesWatch?.stop();
      await Promise.all([rest.close(), worker?.stop(), ledgerWatch.stop()]);
      await ops.close();
      await db.end();
    },
  };
}

/** Everything operations need, on one pool. `startService()` does this; benchmarks run parts by themselves. */
export function makeDeps(
  config: ServiceConfig,
  db: Pool,
  log: Logger,
  provider: Provider | undefined,
  wakeTopUps: () => void,
): Deps {
  const deps: Deps = {
    db,
    log,
    provider,
    wakeTopUps,
    metrics: new Metrics(),
    rates: new RateCards(),
    charges: new ChargeQueue({
      free: (batches) => chargeFreeBatches(deps, batches),
      tenant: (tenant, batches) => chargeTenant(deps, tenant, batches),
    }),
    keyLookups: new KeyLookups(db),
    failedKeys: new FailedKeys(db),
    signupLimit: new SignupLimit(db),
    config: {
      keyPrefix: config.keyPrefix,
      publicUrl: config.publicUrl,
      signupCheckoutCents: config.signupCheckoutCents,
      billingRounding: config.billingRounding,
    },
  };
  return deps;
}

async function listen(open: () => Promise<unknown>, variable: string, port: number): Promise<void> {
  try {
    await open();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw new ListenError(`port ${port} is taken: set ${variable} to another one`);
    throw new ListenError(`cannot listen on port ${port} (${variable}): ${message}`);
  }
}
