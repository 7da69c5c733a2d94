/** Headers that name what a client likes, and how much. Source: RFC 9110, 12.4.2. */

/** A member of such a header, in small letters, without its other parameters. */
export interface Weighted {
  readonly value: string;
  /** From 0, which refuses, to 1. */
  readonly weight: number;
  /** Its place in the header. */
  readonly place: number;
}

/** Browsers send 200 characters. Tens of thousands of members would cost more than most answers. */
const HEADER_LENGTH_MAX = 1_024;

const WEIGHT = /^q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

/** A member whose weight is malformed says nothing, and so does a header that is far too long. */
export function parseWeighted(header: string): Weighted[] {
  if (header.length > HEADER_LENGTH_MAX) return [];
  return splitOutsideQuotes(header, ',').flatMap((member, place) => {
    const [named = '', ...parameters] = splitOutsideQuotes(member, ';').map((text) => text.trim());
    const weight = parameters.find((each) => /^q\s*=/i.test(each)) ?? 'q=1';
    const found = WEIGHT.exec(weight)?.[1];
    return found === undefined ? [] : [{ value: named.toLowerCase(), weight: Number(found), place }];
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
