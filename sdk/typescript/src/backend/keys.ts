/** API keys. */
import type { CallOptions, MutationOptions } from './calls.ts';
import type { AnswerOf, BodyOf, Rest } from './rest.ts';
import type { ApiKey } from './rest-types.ts';

/** Which key. */
export interface KeyId {
  /** The second part of its plaintext. */
  readonly id: string;
}

/** Which key to revoke. */
export interface KeyRevocation extends KeyId {
  /** Also if it is the last working key of its kind. */
  readonly confirm?: 'stop-service';
}

/** API keys of the tenant: `boxoffice.keys`. */
export class Keys {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /** All keys in one array, oldest first, including revoked ones. One request for each 500 keys. */
  async list(options?: CallOptions): Promise<ApiKey[]> {
    const keys: ApiKey[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#rest.call(
        'GET /v1/keys',
        cursor === undefined ? {} : { query: { cursor } },
        options,
      );
      keys.push(...page.keys);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return keys;
  }

  /**
   * Create a key. Only this answer contains `apiKey`; for 24 hours, a call with the same idempotency key gets it
   * again.
   */
  async create(body: BodyOf<'POST /v1/keys'>, options?: MutationOptions): Promise<AnswerOf<'POST /v1/keys'>> {
    return await this.#rest.call('POST /v1/keys', { body }, options);
  }

  /** Replace a key. The old one works on for `overlapSeconds`, by default a day. */
  async rotate(
    { id, ...body }: KeyId & BodyOf<'POST /v1/keys/{id}/rotate'>,
    options?: MutationOptions,
  ): Promise<AnswerOf<'POST /v1/keys/{id}/rotate'>> {
    return await this.#rest.call('POST /v1/keys/{id}/rotate', { path: { id }, body }, options);
  }

  /**
   * Revoke a key at once. The last working key of its kind is refused with the reason `WOULD_STOP_SERVICE`,
   * unless `confirm` is `stop-service`.
   */
  async revoke({ id, ...query }: KeyRevocation, options?: MutationOptions): Promise<void> {
    await this.#rest.call('DELETE /v1/keys/{id}', { path: { id }, query }, options);
  }
}
