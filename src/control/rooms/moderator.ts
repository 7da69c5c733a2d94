/** Who moderates rooms and sets watchdogs: a back end with its key, or a person at the console. */

import type { KeyCeiling } from '../../access/rights/key-ceiling.ts';
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { NewAuditEntry } from '../../base/audit/audit-entry.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { LimitedCaller } from '../../base/tenants/limited-caller.ts';

export interface Moderator extends LimitedCaller {
  /** `null`: of a person, whom the audit trail names. */
  readonly keyId: string | null;
  readonly actor: Actor;
  /** The ceiling of a session by key: it moderates only within this. */
  readonly within?: KeyCeiling | undefined;
}

/** What a back end does is in the events, with its key. What a person does is in the audit trail as well. */
export async function auditPerson(
  tx: Tx,
  { tenant, actor }: Pick<Moderator, 'tenant' | 'actor'>,
  entry: NewAuditEntry,
): Promise<void> {
  if (actor.kind !== 'key') await appendAudit(tx, tenant, actor, entry);
}
