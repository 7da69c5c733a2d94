/**
 * Sets and mappings of code points, parsed from the compact text in the tables.
 *
 * Every number is hexadecimal, without a prefix.
 */

/** A set of code points, from ascending ranges: `21-7e df e0-f6`. */
export class CodePointSet {
  /** The first of a range, the one after its last, the first of the next range, and so on. */
  readonly #bounds: readonly number[];

  constructor(ranges: string) {
    this.#bounds = ranges
      .trim()
      .split(/\s+/)
      .flatMap((range) => {
        const [first = '', last = first] = range.split('-');
        return [Number.parseInt(first, 16), Number.parseInt(last, 16) + 1];
      });
  }

  /** `undefined`, the neighbour of a first or last character, is in no set. */
  has(codePoint: number | undefined): boolean {
    if (codePoint === undefined) return false;
    let low = 0;
    let high = this.#bounds.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#bounds[middle]! <= codePoint) low = middle + 1;
      else high = middle;
    }
    return low % 2 === 1;
  }
}

/** The replacement text of each character: `61=ff41,ff21 72.6e=6d` maps U+006D to U+0072 U+006E. */
export function readMapping(text: string): ReadonlyMap<string, string> {
  const mapping = new Map<string, string>();
  for (const group of text.trim().split(/\s+/)) {
    const [target = '', sources = ''] = group.split('=');
    const replacement = String.fromCodePoint(
      ...target.split('.').map((digits) => Number.parseInt(digits, 16)),
    );
    for (const source of sources.split(',')) {
      mapping.set(String.fromCodePoint(Number.parseInt(source, 16)), replacement);
    }
  }
  return mapping;
}
