/** In which form an answer is asked for. Source: RFC 9110, 12.5.1. */
import { parseWeighted, type Weighted } from './weighted.ts';

/**
 * The one of `types` that has the largest weight in the header `Accept`; of equal ones, the one that is named more
 * exactly, and then first. If the header wants none of them, it is ignored: the first of `types`.
 */
export function preferredType<const T extends string>(
  accept: string | undefined,
  types: readonly [T, ...T[]],
): T {
  const ranges = parseWeighted(accept ?? '');
  const wanted = types.flatMap((type) => {
    const found = mostExact(ranges, type);
    return found && found.weight > 0 ? [{ name: type, ...found }] : [];
  });
  wanted.sort((a, b) => b.weight - a.weight || a.wildcards - b.wildcards || a.place - b.place);
  return wanted[0]?.name ?? types[0];
}

/** A type that is named exactly has the weight of its name, whatever wildcards say. */
function mostExact(
  ranges: readonly Weighted[],
  type: string,
): (Weighted & { readonly wildcards: number }) | undefined {
  const names = [type, type.replace(/[^/]+$/, '*'), '*/*'];
  for (const [wildcards, name] of names.entries()) {
    const range = ranges.find((each) => each.value === name);
    if (range) return { ...range, wildcards };
  }
  return undefined;
}
