/**
 * The code of a database error (SQLSTATE) or a system error (`ECONNREFUSED`); `undefined` if there is none.
 */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
