/** A startup error that an operator can fix. The message is one line and says what to do. */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}
