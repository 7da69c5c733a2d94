/** The database that a command uses: that of DATABASE_URL, or else the embedded one in DATA_DIR. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openPool, type Pool } from '../../base/db/pool.ts';
import { askDistribution } from '../ask-distribution.ts';
import { type Config, readConfig } from '../config.ts';
import { attachEmbedded, type Embedded } from '../embedded-postgres/embedded-postgres.ts';

const APPLICATION_NAME = 'boxoffice admin';

export interface Connected {
  readonly db: Pool;
  readonly config: Config;
}

/** Connect, run the work, and leave the server as it was found. */
export async function withDatabase(work: (connected: Connected) => Promise<void>): Promise<void> {
  const config = readConfig(process.env);
  const embedded = config.databaseUrl === undefined ? await attach(config.dataDir) : undefined;
  try {
    const url = config.databaseDirectUrl ?? config.databaseUrl ?? embedded!.url;
    await askDistribution(url, { applicationName: APPLICATION_NAME });
    const db = openPool(url, { max: 2, applicationName: APPLICATION_NAME });
    await work({ db, config }).finally(() => db.end());
  } finally {
    await embedded?.stop();
  }
}

async function attach(dataDir: string): Promise<Embedded> {
  // Attaching would create the database. Fail instead, in case the operator mistyped the folder.
  if (!existsSync(join(dataDir, 'postgres', 'PG_VERSION'))) {
    throw new Error(
      `there is no database in ${dataDir}: set DATABASE_URL or DATA_DIR, or start the service once`,
    );
  }
  const warn = (message: string) => process.stderr.write(`${message}\n`);
  return attachEmbedded({ dataDir, log: { info: () => undefined, warn } });
}
