/** What an answer tells of the key that a request was made with. */
import type { Entry } from './journal.ts';

/** 401 over HTTP, UNAUTHENTICATED over gRPC. */
const UNAUTHENTICATED = new Set<unknown>([401, 'UNAUTHENTICATED', 16]);

/** Refusals that come after the key was accepted: what was asked for is not allowed, is not there, or cannot be. */
const AFTER_THE_KEY = new Set<unknown>([
  ...[402, 403, 404, 409, 422],
  ...['NOT_FOUND', 'ALREADY_EXISTS', 'PERMISSION_DENIED', 'FAILED_PRECONDITION'],
  ...[5, 6, 7, 9],
]);

export const acceptsKey = ({ outcome, status }: Entry) =>
  outcome === 'ok' || (outcome === 'refused' && AFTER_THE_KEY.has(status));

export const refusesKey = ({ outcome, status }: Entry) =>
  outcome === 'refused' && UNAUTHENTICATED.has(status);
