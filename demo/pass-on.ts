/** Hands requests on to the service or the relay, so that a visitor needs one address for all of it. */
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
  type ServerResponse,
} from 'node:http';

/** Headers about one connection. Source: RFC 9110, 7.6.1. */
const OF_A_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'host'];

function forwarded(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !name.startsWith(':') && !OF_A_CONNECTION.includes(name)),
  );
}

export function passOn(request: IncomingMessage, response: ServerResponse, to: string): void {
  const { method, headers, url = '/' } = request;
  const { remoteAddress } = request.socket;
  const given = { ...forwarded(headers), 'x-forwarded-for': remoteAddress };
  const onward = requestHttp(to + url, { method, headers: given }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, forwarded(answer.headers));
    // Events are handed on as they come.
    response.flushHeaders();
    answer.pipe(response);
  });
  onward.on('error', () => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502).end();
  });
  response.on('close', () => onward.destroy());
  request.pipe(onward);
}
