/**
 * Stable codes of all errors that the reporter throws.
 *
 * - `invalid_options`: the reporter cannot be opened with these options.
 * - `invalid_usage`: the usage breaks a rule of the service; nothing was stored.
 * - `spool_in_use`: another reporter, possibly in another process, uses this folder.
 * - `spool_failed`: the disk failed. Nothing of this call is stored; all earlier calls are.
 * - `spool_broken`: a failed write could not be rolled back, so nothing more is accepted until the next start.
 * - `key_unreadable`: the source of the relay key failed or returned something that is not a key.
 * - `closed`: the reporter is closed, or the session has ended.
 */
export type UsageErrorCode =
  | 'invalid_options'
  | 'invalid_usage'
  | 'spool_in_use'
  | 'spool_failed'
  | 'spool_broken'
  | 'key_unreadable'
  | 'closed';

/** The reporter could not be opened, or did not accept usage; `code` is the reason. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** Why. */
  readonly code: UsageErrorCode;

  constructor(code: UsageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
