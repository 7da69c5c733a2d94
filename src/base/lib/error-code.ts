/** The codes of errors. */

/** That of a database error (its SQLSTATE) or of a system error (`ECONNREFUSED`); `undefined` where there is none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
