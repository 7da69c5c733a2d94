/**
 * Ends calls whose client does not read the answer. HTTP/2 would keep it until the connection ends, and a
 * connection stays open as long as its client answers pings.
 */
import { constants, type ServerHttp2Stream } from 'node:http2';
import type { ServerInterceptingCallInterface } from '@grpc/grpc-js';

/** How long the client may read nothing. A long message gets a second more for each 64 KiB. */
export const UNREAD_MS_MAX = 30_000;
const BYTES_PER_MS = 64;

/**
 * `call` must be the library's own, which holds the HTTP/2 stream. With `isLast`, its first message is also its
 * last: then the status need not wait until the message is written, and leaves in the same packet.
 */
export function endIfUnread(
  call: ServerInterceptingCallInterface,
  { unreadMs, isLast }: { readonly unreadMs: number; readonly isLast: boolean },
): void {
  // The library has no public way to a stream, and its status would wait behind the unread message.
  const { stream } = call as unknown as { readonly stream: ServerHttp2Stream };
  let unread = 0;
  let timer: NodeJS.Timeout | undefined;
  const end = () => stream.close(constants.NGHTTP2_CANCEL);
  const watch = () => {
    clearTimeout(timer);
    timer = unread > 0 ? setTimeout(end, unreadMs + stream.writableLength / BYTES_PER_MS) : undefined;
  };
  const sendMessage = call.sendMessage.bind(call);
  call.sendMessage = (message, sent) => {
    unread += 1;
    sendMessage(message, () => {
      unread -= 1;
      watch();
      if (!isLast) sent();
    });
    if (isLast) sent();
    // Only progress gives the client more time, not another message.
    if (unread > 0 && timer === undefined) watch();
  };
  stream.once('close', () => {
    unread = 0;
    watch();
  });
}
