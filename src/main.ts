/** Reads the environment, opens the database and the service, and stops on signals. */
import { createServer } from 'node:net';
import type { Logger } from 'pino';
import { type Config, readConfig } from './config.ts';
import { DataDirInUse, startEmbedded } from './db/embedded.ts';
import { shrinkHeap } from './lib/shrink-heap.ts';
import { StartError } from './lib/start-error.ts';
import { makeLog } from './ops/log.ts';
import { renderTour } from './ops/tour.ts';
import { startSandboxPayments } from './payments/start-sandbox.ts';
import { ListenError, startService } from './service.ts';
import { findSecretsKey } from './tokens/secrets-key.ts';

/** What is finished within this time is finished; then the process ends anyway. */
const STOP_WITHIN_MS = 10_000;

/** Nobody's first answer waits for it, and the first turns of the background work are over. */
const SHRINK_AFTER_MS = 1_000;

/** What was opened, to be closed in the opposite order. */
class Opened {
  readonly #closers: (() => Promise<void>)[] = [];

  add(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  async closeAll(): Promise<void> {
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) await close();
  }
}

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = makeLog(config.logLevel);
  const opened = new Opened();
  stopOnSignals(opened, log);
  try {
    await open(config, log, opened);
  } catch (error) {
    await opened.closeAll();
    throw error;
  }
}

async function open(config: Config, log: Logger, opened: Opened): Promise<void> {
  const secretsKey = await findSecretsKey(config);
  if (config.tracing) {
    const { startTracing } = await import('./ops/tracing.ts');
    const tracing = await startTracing();
    opened.add(() => tracing.close());
  }
  const databaseUrl = config.databaseUrl ?? (await openEmbedded(config, log, opened));
  const port = config.port === 0 ? await findFreePort(config.host) : config.port;
  const payments = config.payments === 'sandbox' ? await openSandbox(config, port, opened) : undefined;
  const service = await startService(
    { ...config, ...payments?.settings, port, publicUrl: publicUrlOf(config, port), databaseUrl, secretsKey },
    log,
  );
  opened.add(() => service.stop());

  const addresses = {
    service: publicUrlOf(config, port),
    ops: `http://${config.host}:${service.opsPort}`,
    join: config.joinAddress && `http://${config.joinAddress.host}:${service.joinPort}`,
    sandbox: payments?.sandbox.url,
  };
  log.info({ ...addresses, database: config.databaseUrl ? 'external' : 'embedded' }, 'started');
  process.stderr.write(renderTour(config, addresses));
  setTimeout(shrinkHeap, SHRINK_AFTER_MS).unref();
}

async function openEmbedded(config: Config, log: Logger, opened: Opened): Promise<string> {
  const embedded = await startEmbedded({
    dataDir: config.dataDir,
    log: { info: (text) => log.info(text), warn: (text) => log.warn(text) },
  });
  opened.add(() => embedded.stop());
  return embedded.url;
}

async function openSandbox(config: Config, servicePort: number, opened: Opened) {
  try {
    const payments = await startSandboxPayments(config, servicePort);
    opened.add(() => payments.sandbox.close());
    return payments;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new ListenError(`port ${config.sandboxPort} is taken: set SANDBOX_PORT to another one`);
  }
}

/** The default public address names the port that was asked for; when that was 0, the one that was given. */
function publicUrlOf(config: Config, port: number): string {
  return config.port === 0 ? config.publicUrl.replace(/:0$/, `:${port}`) : config.publicUrl;
}

/** The sandbox is told where to deliver before the service listens, so the port must be known by then. */
function findFreePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, host, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

/** The first signal stops in good order; the second one, or too long a wait, at once. */
function stopOnSignals(opened: Opened, log: Logger): void {
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => {
      log.error('stopping took too long');
      process.exit(1);
    }, STOP_WITHIN_MS).unref();
    await opened.closeAll();
    log.info('stopped');
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal));
}

main().catch((error: unknown) => {
  // These say in one line what to do; anything else is a surprise and needs its stack.
  const expected = error instanceof StartError || error instanceof DataDirInUse;
  process.stderr.write(`${expected ? error.message : ((error as Error).stack ?? error)}\n`);
  process.exit(1);
});
