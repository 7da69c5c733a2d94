/** In which form an answer is asked for. Source: RFC 9110, 12.4.2 and 12.5.1. */

/** What a member of `Accept` says: a type, or all of a kind, or all; and its weight, from 0 to 1. */
interface Range {
  readonly type: string;
  readonly weight: number;
  /** Its place in the header. */
  readonly place: number;
}

/**
 * The one of `types` that has the largest weight in the header `Accept`; of equal ones, the one that is named more
 * exactly, and then first. If the header wants none of them, it is ignored: the first of `types`.
 */
export function preferredType<const T extends string>(
  accept: string | undefined,
  types: readonly [T, ...T[]],
): T {
  const ranges = parseRanges(accept ?? '');
  const wanted = types.flatMap((type) => {
    const found = mostExact(ranges, type);
    return found && found.weight > 0 ? [{ name: type, ...found }] : [];
  });
  wanted.sort((a, b) => b.weight - a.weight || a.wildcards - b.wildcards || a.place - b.place);
  return wanted[0]?.name ?? types[0];
}

/** A type that is named exactly has the weight of its name, whatever wildcards say. */
function mostExact(
  ranges: readonly Range[],
  type: string,
): (Range & { readonly wildcards: number }) | undefined {
  const names = [type, type.replace(/[^/]+$/, '*'), '*/*'];
  for (const [wildcards, name] of names.entries()) {
    const range = ranges.find((each) => each.type === name);
    if (range) return { ...range, wildcards };
  }
  return undefined;
}

const WEIGHT = /^q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

/** A member whose weight is malformed says nothing. */
function parseRanges(accept: string): Range[] {
  return splitOutsideQuotes(accept, ',').flatMap((member, place) => {
    const [type = '', ...parameters] = splitOutsideQuotes(member, ';').map((text) => text.trim());
    const weight = parameters.find((each) => /^q\s*=/i.test(each)) ?? 'q=1';
    const value = WEIGHT.exec(weight)?.[1];
    return value === undefined ? [] : [{ type: type.toLowerCase(), weight: Number(value), place }];
  });
}

/** Quoted strings may hold what separates. Linear, also for a quote without an end. */
function splitOutsideQuotes(text: string, separator: ',' | ';'): string[] {
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (isQuoted && character === '\\') at += 1;
    else if (character === '"') isQuoted = !isQuoted;
    else if (character === separator && !isQuoted) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}
