/**
 * Look-ups of rows by id. Those that come at the same time share one statement.
 *
 * Nothing is cached: a statement is sent after the last of its look-ups was requested, so no answer is older than
 * its request.
 */
import { Gather } from './gather.ts';

export class Lookups<Found> {
  readonly #lookups: Gather<string, Found | undefined>;

  /** `findById` gets each id once. */
  constructor(findById: (ids: readonly string[]) => Promise<ReadonlyMap<string, Found>>) {
    this.#lookups = new Gather(async (ids) => {
      const found = await findById([...new Set(ids)]);
      return ids.map((id) => found.get(id));
    });
  }

  find(id: string): Promise<Found | undefined> {
    return this.#lookups.ask(id);
  }
}
