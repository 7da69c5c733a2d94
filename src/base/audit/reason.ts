/** Why an operator changes something, for people who read it later. */
import { parseLine } from '../lib/one-line.ts';

/** Characters. */
export const REASON_MAX = 500;

/** `undefined`: it is none, or too long. */
export function parseReason(text: string): string | undefined {
  return parseLine(text, REASON_MAX);
}
