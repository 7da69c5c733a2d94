/** A text of one line without control characters, without spaces around it; `undefined` if it is none. */
export function parseLine(text: string, lengthMax: number): string | undefined {
  const line = text.trim();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (line === '' || [...line].length > lengthMax || /[\u0000-\u001f\u007f-\u009f]/.test(line))
    return undefined;
  return line;
}
