/** Usage, for who counts it himself; relays have a reporter in `@boxoffice/sdk/relay` that loses nothing. */
import type { CallOptions } from './calls.ts';
import type { AnswerOf, BodyOf, Rest } from './rest.ts';

/** What one participant received in one interval: whole seconds, and bytes. */
export type UsageRecord = BodyOf<'POST /v1/usage'>['records'][number];

/** Reports of usage: `boxoffice.usage`. */
export class Usage {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /**
   * Have usage charged: at most 5000 records, all of them or none. It takes a relay key. It is tried again,
   * and may be reported again: an id that was charged is never charged twice.
   */
  async report(records: readonly UsageRecord[], options?: CallOptions): Promise<AnswerOf<'POST /v1/usage'>> {
    return await this.#rest.call('POST /v1/usage', { body: { records: [...records] } }, options);
  }
}
