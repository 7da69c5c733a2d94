/** The delivery of one event to one endpoint. */
export interface Delivery {
  readonly id: string;
  readonly event: string;
  readonly type: string;
  readonly endpoint: string;
  readonly url: string;
  /**
   * `pending` is tried until accepted or out of attempts (`failed`); `held` waits for a release;
   * `dropped` is never sent.
   */
  readonly status: 'pending' | 'delivered' | 'failed' | 'held' | 'dropped';
  readonly attempts: readonly Attempt[];
  /** Milliseconds before the first attempt. */
  readonly delayMs: number;
  /** The next attempt carries a signature that does not verify. */
  readonly corrupt: boolean;
}

/** `status` is the HTTP status; null if no answer came, with the reason in `error`. */
export interface Attempt {
  readonly at: number;
  readonly status: number | null;
  readonly error: string | null;
}
