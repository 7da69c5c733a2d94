/** A moment of the database's clock, in milliseconds, after everything that was committed so far. */
import { vi } from 'vitest';
import { findNow } from '../../src/base/db/find-now.sql.ts';
import type { Db } from '../../src/base/db/pool.ts';

export async function nextInstant(db: Db): Promise<Date> {
  const instant = new Date((await findNow(db)).getTime() + 1);
  await vi.waitUntil(async () => (await findNow(db)) >= instant);
  return instant;
}
