/** An internal invariant is broken. This is never the caller's fault: doors answer 500. */
class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

/** Throws unless `condition` holds; `what` names it in the log. */
export function assert(condition: unknown, what: string): asserts condition {
  if (!condition) throw new AssertionError(`assertion failed: ${what}`);
}
