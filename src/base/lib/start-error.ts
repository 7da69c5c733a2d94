/** A reason not to start that a person can do something about: the message is one line and says what. */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}
