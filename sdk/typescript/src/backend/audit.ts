/** Who changed what. */
import type { CallOptions } from './calls.ts';
import type { Listing } from './listing.ts';
import type { AnswerOf, PageRequest, Rest } from './rest.ts';

/** One change. `before` and `after` have the fields that changed, by their names on the wire. */
export type AuditEntry = AnswerOf<'GET /v1/audit'>['entries'][number];

/** Which entries of the audit trail to list. */
export interface ListAuditRequest extends PageRequest {
  /** Only this action, such as `key_created`. */
  readonly action?: string | undefined;
  /** Only changes of what has this id. */
  readonly subject?: string | undefined;
  /** Only changes at this time or later. */
  readonly from?: Date | undefined;
  /** Only changes before this time. */
  readonly to?: Date | undefined;
}

/** The audit trail: `boxoffice.audit`. */
export class Audit {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /** Changes of what is administered, newest first. */
  list(request: ListAuditRequest = {}, options?: CallOptions): Listing<AuditEntry> {
    return this.#rest.list('GET /v1/audit', (page) => page.entries, { ...request }, options);
  }
}
