/** The database that a command uses: that of DATABASE_URL, or else the embedded one in DATA_DIR. */
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { openPool, type Pool } from '../../base/db/pool.ts';
import { askDistribution } from '../ask-distribution.ts';
import { type Config, readConfig } from '../config.ts';
import { attachEmbedded, type Embedded } from '../embedded-postgres/embedded-postgres.ts';
import { END_SIGNALS } from '../lifetime.ts';

const APPLICATION_NAME = 'boxoffice admin';

export interface Connected {
  readonly db: Pool;
  readonly config: Config;
}

/** Connect, run the work, and leave the server as it was found. `choose`: another address of it, if there is one. */
export async function withDatabase(
  work: (connected: Connected) => Promise<void>,
  choose: (config: Config) => string | undefined = (config) => config.databaseDirectUrl,
): Promise<void> {
  const config = readConfig(process.env);
  const attached = config.databaseUrl === undefined ? attach(config.dataDir) : undefined;
  const embedded = await attached?.embedded;
  try {
    const url = choose(config) ?? config.databaseUrl ?? embedded!.url;
    await askDistribution(url, { applicationName: APPLICATION_NAME });
    const db = openPool(url, { max: 2, applicationName: APPLICATION_NAME });
    await work({ db, config }).finally(() => db.end());
  } finally {
    await embedded?.stop();
    attached?.ignoreSignals();
  }
}

/** A command that is interrupted leaves no server behind that it has started. */
function attach(dataDir: string): {
  readonly embedded: Promise<Embedded>;
  readonly ignoreSignals: () => void;
} {
  const ending = new AbortController();
  const embedded = open(dataDir, ending.signal);
  const end = async (signal: NodeJS.Signals) => {
    ending.abort();
    await embedded.then((each) => each.stop()).catch(() => undefined);
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of END_SIGNALS) process.once(signal, end);
  const ignoreSignals = () => {
    for (const signal of END_SIGNALS) process.off(signal, end);
  };
  embedded.catch(ignoreSignals);
  return { embedded, ignoreSignals };
}

async function open(dataDir: string, ending: AbortSignal): Promise<Embedded> {
  // Attaching would create the database. Fail instead, in case the operator mistyped the folder.
  if (!existsSync(join(dataDir, 'postgres', 'PG_VERSION'))) {
    throw new Error(
      `there is no database in ${dataDir}: set DATABASE_URL or DATA_DIR, or start the service once`,
    );
  }
  const warn = (message: string) => process.stderr.write(`${message}\n`);
  return attachEmbedded({ dataDir, log: { info: () => undefined, warn }, ending });
}
