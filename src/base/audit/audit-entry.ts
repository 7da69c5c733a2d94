/**
 * Entries of the audit trail: who changed what, when, from where.
 *
 * An entry holds no secret and no hash of one, and names no participant.
 */
import { isDeepStrictEqual } from 'node:util';
import { isId } from '../lib/ids.ts';
import type { TenantId } from '../tenants/tenant.ts';
import type { ActorKind } from './actor.ts';

/** What becomes of a client's address when it has been kept long enough. The trigger allows this text alone. */
export const ERASED_ADDRESS = '(erased)';
/** How long the addresses of clients are kept, unless the operator says otherwise. */
export const ADDRESS_DAYS = 400;

/** Words of lower-case letters, joined by underscores. */
export const ACTION_PATTERN = '^[a-z]+(_[a-z]+)*$';
export const ACTION_LENGTH_MAX = 64;

export function isAction(text: string): boolean {
  return new RegExp(ACTION_PATTERN).test(text) && text.length <= ACTION_LENGTH_MAX;
}

export function isAuditId(text: string): boolean {
  return isId('au', text);
}

/** Fields that JSON can hold; amounts as integers, in the unit of their name. */
export type AuditedFields = Readonly<Record<string, unknown>>;

/** A change, as the operation that makes it describes it. */
export interface NewAuditEntry {
  /** What was done, as in `key_created`. */
  readonly action: string;
  /** The id of what was changed; `null`: there is only one of it. */
  readonly subject: string | null;
  /** The fields that changed, as they were; `null`: it did not exist. */
  readonly before: AuditedFields | null;
  /** The same fields as they are now; `null`: it does not exist any more. */
  readonly after: AuditedFields | null;
}

/** One change that happened. */
export interface AuditEntry extends NewAuditEntry {
  readonly id: string;
  /** `null`: a change of the whole service. */
  readonly tenant: TenantId | null;
  readonly at: Date;
  readonly actorKind: ActorKind;
  readonly actorId: string;
  /** The address of the client, for API keys, members and log-ins only; `(erased)` when it was too old. */
  readonly address: string | null;
}

/** The fields that differ, before and after; `undefined` if none does. */
export function changedFields<Fields extends object>(
  before: Fields,
  after: Fields,
): { before: AuditedFields; after: AuditedFields } | undefined {
  const names = (Object.keys(after) as (keyof Fields & string)[]).filter(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  );
  if (names.length === 0) return undefined;
  const pick = (from: Fields) => Object.fromEntries(names.map((name) => [name, from[name] ?? null]));
  return { before: pick(before), after: pick(after) };
}
