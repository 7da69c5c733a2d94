/** How an update changes metadata: an empty value removes its key, null removes all of them. */
export function mergeMetadata(
  before: Record<string, string>,
  change: Record<string, string> | null | undefined,
): Record<string, string> {
  if (change === null) return {};
  const merged = Object.entries({ ...before, ...change });
  return Object.fromEntries(merged.filter(([, value]) => value !== ''));
}
