/** Limits of this door. Source: specification 8. Limits of a resource are next to its noun. */

/** Maximum size of a request. */
export const MESSAGE_BYTES_MAX = 64 * 1024;

/** Time limit for calls other than streams, and for the arrival of any request. */
export const CALL_TIMEOUT_MS = 15_000;

/** Open streams of health and reflection, in one process. */
export const KEYLESS_STREAMS_MAX = 1_000;
