/** What ends a line, or lets text beside it run the other way. */
const UNWANTED = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** Whether a text has no control characters, no breaks of a line and no marks of direction. */
export function isOneLine(text: string): boolean {
  return !UNWANTED.test(text);
}

/** A text of one line without control characters, without spaces around it; `undefined` if it is none. */
export function parseLine(text: string, lengthMax: number): string | undefined {
  const line = text.trim();
  return line === '' || [...line].length > lengthMax || !isOneLine(line) ? undefined : line;
}
