/** Lists that are read a page at a time. */

export interface Page<T> {
  readonly items: readonly T[];
  /** The last item, if there are more; `undefined`: there is no next page. */
  readonly end: T | undefined;
}

/** `find` reads one item more than the page holds, which shows whether there is a next page. */
export async function readPage<T>(
  size: number,
  find: (limit: number) => Promise<readonly T[]>,
): Promise<Page<T>> {
  const found = await find(size + 1);
  const items = found.slice(0, size);
  return { items, end: found.length > size ? items.at(-1) : undefined };
}
