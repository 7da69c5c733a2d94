/**
 * Stable codes of everything the reporter throws.
 *
 * - `invalid_options`: the reporter cannot be opened like this.
 * - `invalid_usage`: the usage breaks a rule of the service; nothing was stored.
 * - `spool_in_use`: another reporter, maybe of another process, has this folder.
 * - `spool_failed`: the disk refused; of this call nothing is stored, of earlier ones everything is.
 * - `spool_broken`: a refused write could not be taken back, so nothing more is accepted until the next start.
 * - `key_unreadable`: the source of the relay key failed or gave something that is no key.
 * - `closed`: the reporter was closed before.
 */
export type UsageErrorCode =
  | 'invalid_options'
  | 'invalid_usage'
  | 'spool_in_use'
  | 'spool_failed'
  | 'spool_broken'
  | 'key_unreadable'
  | 'closed';

/** The reporter could not be opened, or did not take usage; `code` says which. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code: UsageErrorCode;

  constructor(code: UsageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
