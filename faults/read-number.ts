/** Numbers of options. A number that nothing can be done with would make a campaign that tries nothing and finds nothing. */
interface Range {
  readonly min: number;
  readonly max?: number;
  readonly isWhole?: boolean;
}

/** `undefined`: the text is no number of the range. */
export function readNumber(
  text: string | undefined,
  fallback: number,
  { min, max = Number.MAX_SAFE_INTEGER, isWhole = false }: Range,
): number | undefined {
  if (text === undefined) return fallback;
  const value = Number(text.trim() === '' ? Number.NaN : text);
  if (!(value >= min && value <= max) || (isWhole && !Number.isInteger(value))) return undefined;
  return value;
}
