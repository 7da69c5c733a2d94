/** Usage, for applications that measure it themselves. Relays use the durable reporter in `@boxoffice/sdk/relay`. */
import type { CallOptions } from './calls.ts';
import type { AnswerOf, BodyOf, Rest } from './rest.ts';

/** The usage of one participant in one interval: whole seconds, and bytes. */
export type UsageRecord = BodyOf<'POST /v1/usage'>['records'][number];

/** Reports of usage: `boxoffice.usage`. */
export class Usage {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /**
   * Charge usage: at most 5000 records, all or none. It takes a relay key. The request is retried,
   * and may be repeated: an id is never charged twice.
   */
  async report(records: readonly UsageRecord[], options?: CallOptions): Promise<AnswerOf<'POST /v1/usage'>> {
    return await this.#rest.call('POST /v1/usage', { body: { records: [...records] } }, options);
  }
}
