/** A startup error that an operator can fix. The message is one line and says what to do. */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}

/** Turns an error of `work` into a `StartError`: `what`, and the reason. */
export async function orStartError<T>(work: () => Promise<T>, what: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // A host with several addresses fails with an AggregateError, which has no message of its own.
    const { message, code } = error as NodeJS.ErrnoException;
    throw new StartError(`${what}: ${message || code}`, { cause: error });
  }
}
