/** How each part of the service is, as far as the database says, for operators. */
import { findDatabaseHealth } from '../../base/db/database-health.sql.ts';
import { findStaleMigration } from '../../base/db/migrate.ts';
import type { Db } from '../../base/db/pool.ts';
import { countUnknownAttempts } from '../../money/top-ups/top-up-attempts.sql.ts';
import { findMailHealth } from '../mail/mails.sql.ts';
import { findWebhookHealth } from '../webhooks/webhook-cursors.sql.ts';

export type Health = Awaited<ReturnType<typeof getHealth>>;

/** `unknown`: automatic top-ups. `stale`: why the database is not of this version. */
export async function getHealth(db: Db) {
  return {
    webhooks: await findWebhookHealth(db),
    unknown: await countUnknownAttempts(db),
    mails: await findMailHealth(db),
    database: await findDatabaseHealth(db),
    stale: await findStaleMigration(db),
  };
}
