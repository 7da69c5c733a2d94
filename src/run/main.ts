/** Reads the environment, opens the database and the service, and stops on signals. */
import { constants } from 'node:os';
import type { Logger } from 'pino';
import { StartError } from '../base/lib/start-error.ts';
import { makeLog } from '../base/telemetry/log.ts';
import { type Config, readConfig } from './config.ts';
import { startEmbedded } from './embedded-postgres/embedded-postgres.ts';
import { findFreePort } from './free-port.ts';
import { giveBackMemory } from './give-back-memory.ts';
import { describeStartFailure, END_SIGNALS, endProcess, Opened } from './lifetime.ts';
import type { DatabaseConfig } from './open-database.ts';
import { isTestMode } from './read-payments.ts';
import { findSecretsKey } from './secrets-key.ts';
import type { Service } from './service.ts';
import { shrinkHeap } from './shrink-heap.ts';
import type { MailboxOptions } from './start-sandbox.ts';
import { renderTour } from './tour.ts';
import { watchParent } from './watch-parent.ts';

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = makeLog(config.logLevel);
  const opened = new Opened();
  const progress = { isServing: false };
  stopOnSignals(opened, log, progress);
  try {
    await open(config, log, opened);
    progress.isServing = true;
  } catch (error) {
    // A start that was told to stop fails, because what it uses goes away.
    if (opened.ending.aborted) return;
    await opened.closeAll();
    throw error;
  }
}

async function open(config: Config, log: Logger, opened: Opened): Promise<void> {
  const secretsKey = await findSecretsKey(config);
  // With workers, the workers do the traced work.
  if (config.tracing && config.workers === 1) {
    const { startTracing } = await import('../base/telemetry/tracing.ts');
    const tracing = await startTracing();
    opened.add(() => tracing.close());
  }
  const { database, serve } = await findDatabaseAndLoad(config, log, opened);
  // The sandbox needs the delivery address before the service listens, so the port must be known by now.
  const port = config.port === 0 ? await findFreePort(config.host) : config.port;
  const publicUrl = publicUrlOf(config, port);
  const mails = {
    databaseUrl: database.databaseDirectUrl ?? database.databaseUrl,
    secretsKey,
    secretsKeyFallback: config.secretsKeyFallback,
    publicUrl,
    supportEmail: config.supportEmail,
  };
  const payments = config.payments === 'sandbox' ? await openSandbox(config, port, mails, opened) : undefined;
  const mailboxUrl = payments && `${payments.sandbox.url}/mailbox`;
  const settings = { ...config, ...payments?.settings, ...database, port, publicUrl, secretsKey, mailboxUrl };
  const service = await serve(settings, log, opened);

  const addresses = {
    service: publicUrl,
    grpc: `${config.host}:${service.grpcPort}`,
    ops: `http://${config.host}:${service.opsPort}`,
    join: config.joinAddress && `http://${config.joinAddress.host}:${service.joinPort}`,
    sandbox: payments?.sandbox.url,
  };
  const workers = config.workers === 1 ? undefined : config.workers;
  if (config.production && isTestMode(config)) {
    log.warn(
      'STRIPE_SECRET_KEY is of the test mode, although NODE_ENV is production: credit is bought with test cards',
    );
  }
  log.info({ ...addresses, database: config.databaseUrl ? 'external' : 'embedded', workers }, 'started');
  process.stderr.write(renderTour(config, addresses));
}

type Settings = Config & { readonly databaseUrl: string; readonly secretsKey: Buffer };
type Listening = Pick<Service, 'opsPort' | 'joinPort' | 'grpcPort'>;

type Serve = (settings: Settings, log: Logger, opened: Opened) => Promise<Listening>;

async function loadService(): Promise<Serve> {
  const { startService } = await import('./service.ts');
  return async (settings, log, opened) => {
    const { ending } = opened;
    ending.throwIfAborted();
    const starting = startService(settings, log, { whenLoaded: shrinkHeap, ending });
    // Registered before it is up: the database that it uses is closed after it.
    opened.add(() =>
      starting.then(
        (service) => service.stop(),
        () => undefined,
      ),
    );
    const service = await starting;
    giveBackMemory();
    return service;
  };
}

async function loadWorkers(): Promise<Serve> {
  const { Workers } = await import('./workers/workers.ts');
  return async (settings, log, opened) => {
    const { workers: count, logLevel, tracing, ...config } = settings;
    const workers = new Workers({ count, logLevel, tracing, config }, log);
    // Registered before they all start: what was started is stopped even if one of them fails.
    opened.add(() => workers.stop());
    shrinkHeap();
    return await workers.start();
  };
}

/** The embedded database starts in a process of its own. Meanwhile this one loads the service. */
async function findDatabaseAndLoad(
  config: Config,
  log: Logger,
  opened: Opened,
): Promise<{ readonly database: DatabaseUrls; readonly serve: Serve }> {
  const launched = Promise.withResolvers<void>();
  const [database, serve] = await Promise.all([
    findDatabase(config, log, opened, launched.resolve),
    launched.promise.then(config.workers === 1 ? loadService : loadWorkers),
  ]);
  return { database, serve };
}

type DatabaseUrls = Pick<DatabaseConfig, 'databaseUrl' | 'databaseDirectUrl' | 'migrationsDatabaseUrl'>;

/** The one of DATABASE_URL, or else the embedded one, which the service uses as a role that owns nothing. */
async function findDatabase(
  config: Config,
  log: Logger,
  opened: Opened,
  whenLaunched: () => void,
): Promise<DatabaseUrls> {
  const { databaseUrl, databaseDirectUrl, migrationsDatabaseUrl } = config;
  if (databaseUrl !== undefined) {
    whenLaunched();
    return { databaseUrl, databaseDirectUrl, migrationsDatabaseUrl };
  }
  const starting = startEmbedded({
    dataDir: config.dataDir,
    log: { info: (text) => log.info(text), warn: (text) => log.warn(text) },
    whenLaunched,
    ending: opened.ending,
  });
  // Registered before it is up: it has processes from the first moment on.
  opened.add(() =>
    starting.then(
      (embedded) => embedded.stop(),
      () => undefined,
    ),
  );
  const { applicationUrl, url } = await starting;
  return { databaseUrl: applicationUrl, databaseDirectUrl: undefined, migrationsDatabaseUrl: url };
}

async function openSandbox(config: Config, servicePort: number, mails: MailboxOptions, opened: Opened) {
  const { startSandboxPayments } = await import('./start-sandbox.ts');
  try {
    const payments = await startSandboxPayments(config, servicePort, mails);
    opened.add(() => payments.close());
    return payments;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new StartError(`port ${config.sandboxPort} is taken: set SANDBOX_PORT to another one`);
  }
}

/** The default public address names the requested port, or the assigned one if that was 0. */
function publicUrlOf(config: Config, port: number): string {
  return config.port === 0 ? config.publicUrl.replace(/:0$/, `:${port}`) : config.publicUrl;
}

/** A terminal sends these to the service as well as to npm, which hands them on: at a Ctrl-C, and when it is closed. */
const TERMINAL_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGHUP'];
/** As a terminal does, `timeout` and supervisors send SIGTERM to both. */
const SAME_SIGNAL_MS = 1_000;

/**
 * The first signal stops gracefully. Another one that npm has not handed on, or the time limit, stops at once. The exit code is that of the
 * signal if the service did not serve yet.
 */
function stopOnSignals(opened: Opened, log: Logger, progress: { readonly isServing: boolean }): void {
  let first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined;
  const stop = (signal: NodeJS.Signals, why: object) => {
    const now = performance.now();
    if (first !== undefined) {
      const isHandedOn = signal === first.signal || TERMINAL_SIGNALS.includes(signal);
      if (isHandedOn && now - first.at <= SAME_SIGNAL_MS) return;
      process.exit(1);
    }
    first = { signal, at: now };
    process.exitCode = progress.isServing ? 0 : 128 + constants.signals[signal];
    log.info(why, 'stopping');
    void endProcess(opened, log, process.exitCode);
  };
  for (const signal of END_SIGNALS) process.on(signal, () => stop(signal, { signal }));
  watchParent(process.argv, (parent) => stop('SIGHUP', { reason: `npm (pid ${parent}) has ended` }));
}

// Who reads the first lines only, as `head` does, does not end the service.
process.stderr.on('error', () => undefined);

main().catch((error: unknown) => {
  process.stderr.write(`${describeStartFailure(error)}\n`);
  process.exit(1);
});
