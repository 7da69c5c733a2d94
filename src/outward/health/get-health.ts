/** How each part of the service is, as far as the database says, for operators. */
import type { DatabaseServer } from '../../base/db/away-servers.ts';
import { findDatabaseHealth } from '../../base/db/database-health.sql.ts';
import { findServers } from '../../base/db/database-servers.sql.ts';
import { findStaleMigration } from '../../base/db/migrate.ts';
import type { Db } from '../../base/db/pool.ts';
import { countUnknownAttempts } from '../../money/top-ups/top-up-attempts.sql.ts';
import { findMailHealth } from '../mail/mails.sql.ts';
import { findWebhookHealth } from '../webhooks/webhook-cursors.sql.ts';

export type Health = Awaited<ReturnType<typeof getHealth>>;

/** Those that have tenants, where there are several. */
export async function listServers(db: Db): Promise<readonly DatabaseServer[]> {
  return findServers(db);
}

/** While a server is away, it fails. `unknown`: automatic top-ups. `stale`: why the database is not of this version. */
export async function getHealth(db: Db) {
  return {
    webhooks: await findWebhookHealth(db),
    unknown: await countUnknownAttempts(db),
    mails: await findMailHealth(db),
    database: await findDatabaseHealth(db),
    stale: await findStaleMigration(db),
  };
}
