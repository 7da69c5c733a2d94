/** Items that arrive one by one, in lists of `size`; the last one may be shorter. */
export async function* batchesOf<T>(size: number, items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length === size) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}
