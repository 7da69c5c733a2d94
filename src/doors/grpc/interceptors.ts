/**
 * What happens around every call before a method serves it: gRPC's own refusals are reported
 * like ours, requests must arrive in time, and streams that need no key are limited.
 */
import { ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js';
import { Failure, invalidRequest } from '../../base/failure.ts';
import { newId } from '../../base/lib/ids.ts';
import type { Deps } from '../deps.ts';
import { statusOf } from './errors.ts';
import { CALL_TIMEOUT_MS, observe, unreadable } from './methods.ts';
import { endIfUnread } from './unread.ts';

/** Maximum size of a request. */
export const MESSAGE_BYTES_MAX = 64 * 1024;

/** Open streams of health and reflection, in this process. */
const KEYLESS_STREAMS_MAX = 1_000;

/** Services that need no key. */
const KEYLESS = /^\/grpc\.(health|reflection)\./;

/** gRPC codes of errors that only a caller can have caused, and our code for them. */
const REFUSALS: readonly (readonly [told: RegExp, failure: Failure])[] = [
  [/^Error deserializing request/, unreadable()],
  [/^Failed to decompress message/, invalidRequest('the message cannot be decompressed')],
  [
    /^Invalid grpc-timeout value/,
    invalidRequest('grpc-timeout is not a number of up to 8 digits and a unit'),
  ],
  [
    /^Received message (larger than|that decompresses to)/,
    invalidRequest(`the message must not have more than ${MESSAGE_BYTES_MAX} bytes`),
  ],
  [/^Received no request message/, invalidRequest('the message is missing, or ends too early')],
  [/^Received a second request message/, invalidRequest('there must be one message only')],
  [
    /^Received message compressed with unsupported/,
    new Failure('method_not_allowed', { message: 'this compression is not supported: use gzip or deflate' }),
  ],
];

export function makeInterceptors(deps: Deps, unreadMs: number): ServerInterceptor[] {
  /** End a call before any method has seen it. Returns the status that it ends with. */
  const refuse = (path: string, error: unknown) => {
    const requestId = newId('req');
    const ending = statusOf(error, requestId);
    observe(deps, { method: path, code: status[ending.code], requestId, begun: performance.now() });
    return ending;
  };

  // The first interceptor, which gets the library's own call.
  const tellRefusals: ServerInterceptor = ({ path }, call) => {
    endIfUnread(call, unreadMs);
    const sendStatus = call.sendStatus.bind(call);
    call.sendStatus = (ending) => {
      const refusal = REFUSALS.find(([told]) => told.test(ending.details));
      sendStatus(refusal ? refuse(path, refusal[1]) : ending);
    };
    return new ServerInterceptingCall(call);
  };

  const awaitRequest: ServerInterceptor = ({ path, requestStream }, call) => {
    if (requestStream) return new ServerInterceptingCall(call);
    return new ServerInterceptingCall(call, {
      start: (next) => {
        const late = () => call.sendStatus(refuse(path, new Failure('request_timeout')));
        const timer = setTimeout(late, CALL_TIMEOUT_MS).unref();
        next({
          onReceiveHalfClose: (proceed) => {
            clearTimeout(timer);
            proceed();
          },
          onCancel: () => clearTimeout(timer),
        });
      },
    });
  };

  let keyless = 0;
  const limitKeyless: ServerInterceptor = ({ path, responseStream }, call) => {
    if (!responseStream || !KEYLESS.test(path)) return new ServerInterceptingCall(call);
    return new ServerInterceptingCall(call, {
      start: (next) => {
        if (keyless >= KEYLESS_STREAMS_MAX) {
          call.sendStatus(refuse(path, new Failure('too_many_streams')));
          return;
        }
        keyless += 1;
        next({
          onCancel: () => {
            keyless -= 1;
          },
        });
      },
    });
  };

  return [tellRefusals, awaitRequest, limitKeyless];
}
