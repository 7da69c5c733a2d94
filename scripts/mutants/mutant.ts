/** A mutant: one small deliberate mistake in one file, which a test should notice. */
import { seeded } from '../../test/support/seeded.ts';

/** Replaces the characters from `start` up to `end`. */
export interface Change {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** Description, such as `condition removed`. */
  readonly kind: string;
}

export interface Mutant extends Change {
  /** Path from the root of the project. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** The original and the replacement. */
  readonly what: string;
  /** The line as it was. */
  readonly code: string;
}

export function makeMutant(file: string, text: string, change: Change): Mutant {
  const line = text.slice(0, change.start).split('\n').length;
  const code = text.split('\n')[line - 1]!.trim();
  const removed = shorten(text.slice(change.start, change.end));
  const what = `${change.kind}: ${removed} -> ${shorten(change.replacement) || 'nothing'}`;
  return { ...change, file, line, what, code };
}

export function applyChange(text: string, { start, end, replacement }: Change): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

/** `count` mutants in order of position. The same seed chooses the same ones. */
export function chooseMutants(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  const random = seeded(seed);
  return mutants
    .map((mutant, at) => ({ mutant, at, lot: random() }))
    .sort((one, other) => one.lot - other.lot)
    .slice(0, count)
    .sort((one, other) => one.at - other.at)
    .map(({ mutant }) => mutant);
}

const LENGTH_MAX = 70;

function shorten(code: string): string {
  const line = code.replace(/\s+/g, ' ').trim();
  return line.length > LENGTH_MAX ? `${line.slice(0, LENGTH_MAX - 3)}...` : line;
}
