/**
 * The erasure of a person: the name goes from everything that is stored about a tenant, and every amount stays.
 *
 * The tables are worked through in the background, part by part and in this order. An erasure stores how far it is, so
 * that any process goes on where another one stopped. What is stored after the request is not looked for.
 */
import { isId } from '../../base/lib/ids.ts';

export const ERASURE_STEPS = [
  'bans',
  'moderation_events',
  'events',
  'usage_records',
  // After the rows, from which they are made.
  'record_chunks',
  'usage_conflicts',
  'sessions',
] as const;
export type ErasureStep = (typeof ERASURE_STEPS)[number];

export const ERASURE_STATES = ['pending', 'done'] as const;

/** Pending erasures of one tenant. Each reads all records of the tenant, unless it can go together with others. */
export const ERASURES_PENDING_MAX = 1_000;

export function isErasureId(text: string): boolean {
  return isId('er', text);
}

/** Never holds the name: the row forgets it as soon as the erasure is done. */
export interface Erasure {
  readonly id: string;
  readonly state: (typeof ERASURE_STATES)[number];
  /** Usage records that have lost the name so far. */
  readonly records: bigint;
  /** Rows of other tables that have. */
  readonly others: bigint;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}
