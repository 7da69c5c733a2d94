/** What one request may take. */

/** Times in milliseconds. */
export interface SendTimes {
  /** For a connection: from the name to the end of the TLS handshake. */
  readonly connect: number;
  /** From the call to the status of the answer, waiting for a free connection included. */
  readonly answer: number;
  /** From the status to the end of the body. The status counts even if the body does not end. */
  readonly body: number;
  /** How long an idle connection is kept: less than the 5 seconds of most servers. */
  readonly idle: number;
}

export const SEND_TIMES: SendTimes = { connect: 5_000, answer: 15_000, body: 2_000, idle: 4_000 };

/**
 * Connections of one tenant to one host and port at once: for all of its webhooks, and for calls that send now. Further
 * requests wait for one.
 */
export const CONNECTIONS_PER_HOST_MAX = 32;
/** Idle connections of one tenant to one host and port: as many as a webhook has requests at once. */
export const IDLE_PER_HOST_MAX = 20;
/** Idle connections of one tenant, and of all. */
export const IDLE_PER_TENANT_MAX = 40;
export const IDLE_MAX = 1_024;

/** The size of one block of headers of an answer. */
export const HEADER_BYTES_MAX = 16_384;

/** Answers like `103 Early Hints` before the one that counts. */
export const INTERIM_ANSWERS_MAX = 8;

/** The connection closes if the body of an answer is longer. */
export const ANSWER_BYTES_MAX = 16_384;

/** What the caller gets of the body. */
export const ANSWER_CHARACTERS_MAX = 1_024;
