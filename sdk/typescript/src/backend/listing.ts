/** Long lists, as they are read. */

/** A page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** What to ask the next page with; empty: this was the last. */
  readonly nextPageToken: string;
}

/** Everything there is: iterate over it for the items, or over `pages()`. Each iteration reads anew. */
export class Listing<T> implements AsyncIterable<T> {
  readonly #first: string;
  readonly #read: (pageToken: string) => Promise<Page<T>>;

  constructor(first: string | undefined, read: (pageToken: string) => Promise<Page<T>>) {
    this.#first = first ?? '';
    this.#read = read;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.items;
  }

  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    let pageToken = this.#first;
    do {
      const page = await this.#read(pageToken);
      yield page;
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
  }
}
