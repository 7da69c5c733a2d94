/** Who gets mail about the tenant. */
import type { CallOptions, MutationOptions } from './calls.ts';
import type { AnswerOf, BodyOf, Rest } from './rest.ts';

/** Who gets which mail, and who wants no alerts. */
export type MailSettings = AnswerOf<'GET /v1/mail'>;

/** Who is to get which mail. Without `signupAddress`, the address given at signup gets it too. */
export type NewMailSettings = BodyOf<'PUT /v1/mail'>;

/** Settings of mail: `boxoffice.mail`. */
export class Mail {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /** The settings. Until they are set, the address given at signup gets alerts and receipts. */
  async get(options?: CallOptions): Promise<MailSettings> {
    return await this.#rest.call('GET /v1/mail', {}, options);
  }

  /** Replace all settings. */
  async set(settings: NewMailSettings, options?: MutationOptions): Promise<MailSettings> {
    return await this.#rest.call('PUT /v1/mail', { body: settings }, options);
  }
}
