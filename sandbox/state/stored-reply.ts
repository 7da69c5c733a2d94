/** The stored answer to a POST with an idempotency key. */
import type { Reply } from '../http/request.ts';

export interface StoredReply {
  /** The idempotency key. */
  readonly id: string;
  readonly created: number;
  /** A digest of the method, the path and the parameters. */
  readonly fingerprint: string;
  readonly reply: Reply;
}
