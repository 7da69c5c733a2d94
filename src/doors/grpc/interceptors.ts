/**
 * What happens around every call before a method serves it: gRPC's own refusals are reported
 * like ours, requests must arrive in time, and streams that need no key are limited.
 */
import {
  type ServerInterceptingCallInterface as ServerCall,
  ServerInterceptingCall,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js';
import { Failure, invalidRequest } from '../../base/failure.ts';
import { newId } from '../../base/lib/ids.ts';
import type { Deps } from '../deps.ts';
import { statusOf } from './errors.ts';
import { CALL_TIMEOUT_MS, KEYLESS_STREAMS_MAX, MESSAGE_BYTES_MAX } from './limits.ts';
import { observe, unreadable } from './methods.ts';
import { endIfUnread } from './unread.ts';

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

  const tellRefusals = (path: string, call: ServerCall) => {
    const sendStatus = call.sendStatus.bind(call);
    call.sendStatus = (ending) => {
      const refusal = ending.code === status.OK ? undefined : refusalOf(ending.details);
      sendStatus(refusal ? refuse(path, refusal) : ending);
    };
  };

  const awaitRequest = (path: string, call: ServerCall) => {
    const start = call.start.bind(call);
    call.start = (listener) => {
      const late = () => call.sendStatus(refuse(path, new Failure('request_timeout')));
      const timer = setTimeout(late, CALL_TIMEOUT_MS).unref();
      start({
        onReceiveMetadata: (metadata) => listener.onReceiveMetadata(metadata),
        onReceiveMessage: (message) => listener.onReceiveMessage(message),
        onReceiveHalfClose: () => {
          clearTimeout(timer);
          listener.onReceiveHalfClose();
        },
        onCancel: () => {
          clearTimeout(timer);
          listener.onCancel();
        },
      });
    };
  };

  let keyless = 0;
  const limitKeyless = (path: string, call: ServerCall) =>
    new ServerInterceptingCall(call, {
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

  // One for all, because each call that is wrapped again costs each of its messages several functions.
  return [
    ({ path, requestStream, responseStream }, call) => {
      endIfUnread(call, { unreadMs, isLast: !responseStream });
      tellRefusals(path, call);
      if (!requestStream) awaitRequest(path, call);
      if (responseStream && KEYLESS.test(path)) return limitKeyless(path, call);
      // The library calls only what the interface has.
      return call as ServerInterceptingCall;
    },
  ];
}

function refusalOf(details: string): Failure | undefined {
  return REFUSALS.find(([told]) => told.test(details))?.[1];
}
