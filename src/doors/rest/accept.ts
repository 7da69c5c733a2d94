/** In which form an answer is asked for. */

/** Which of `types` the header `Accept` names first; the first of `types` if it names none of them. */
export function preferredType<const T extends string>(
  accept: string | undefined,
  types: readonly [T, ...T[]],
): T {
  const asked = (accept ?? '').split(',').map((each) => each.split(';')[0]!.trim().toLowerCase());
  return asked.flatMap((each) => types.filter((type) => type === each))[0] ?? types[0];
}
