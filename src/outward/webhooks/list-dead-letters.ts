/** Events that a webhook was not sent in the end, the newest first. */
import type { Db } from '../../base/db/pool.ts';
import { readPage } from '../../base/lib/page.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { DeadLetter } from './dead-letter.ts';
import { findDeadLetters } from './deliveries.sql.ts';
import { getWebhook } from './get-webhook.ts';

export interface DeadLetterPage {
  readonly deadLetters: readonly DeadLetter[];
  /** Number of the last one, if there are more. */
  readonly end: bigint | undefined;
}

/** `before` is the `end` of the previous page. Fails with `not_found`. */
export async function listDeadLetters(
  db: Db,
  tenant: TenantId,
  id: string,
  { before, size }: { readonly before: bigint | undefined; readonly size: number },
): Promise<DeadLetterPage> {
  await getWebhook(db, tenant, id);
  const { items, end } = await readPage(size, (limit) => findDeadLetters(db, tenant, id, { before, limit }));
  return { deadLetters: items, end: end?.seq };
}
