/** Paged lists. */

/** A page of a list. */
export interface Page<T> {
  /** The items of the page. */
  readonly items: readonly T[];
  /** Token of the next page; empty for the last page. */
  readonly nextPageToken: string;
}

/** A complete list: iterate over it for the items, or over `pages()`. Each iteration reads it again. */
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
