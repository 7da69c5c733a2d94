/** Answers with many items, rendered in slices, so that other requests are served in between. */

/** Rendered without a pause: some milliseconds. */
export const ITEMS_PER_SLICE = 100;

/** The answer with all items, by what renders the one with some. Without items, its one `[]` is their list. */
export function* renderInSlices<T>(
  items: readonly T[],
  render: (slice: readonly T[]) => string,
): Generator<void, string> {
  const [begin, end] = render([]).split('[]') as [string, string];
  const texts: string[] = [];
  for (let at = 0; at < items.length; at += ITEMS_PER_SLICE) {
    texts.push(render(items.slice(at, at + ITEMS_PER_SLICE)).slice(begin.length + 1, -end.length - 1));
    yield;
  }
  return `${begin}[${texts.join(',')}]${end}`;
}
