/** Only pages of the console may send its forms. Source: OWASP, "Cross-Site Request Forgery Prevention". */

interface Headers {
  readonly origin?: string | undefined;
  readonly 'sec-fetch-site'?: string | string[] | undefined;
}

/**
 * Every browser names the origin of a page whose form it sends, and the newer ones say how it relates to the target.
 * A client that sends neither is no browser with a page of ours.
 */
export function isOwnForm(headers: Headers, publicUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  return headers.origin === new URL(publicUrl).origin && (site === undefined || site === 'same-origin');
}

const LOOPBACK = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;

/**
 * Where a page of the console is, for a browser that used another name of the same machine, such as `localhost`
 * for `127.0.0.1`. Its forms would be refused there.
 */
export function ownAddressOf(host: string | undefined, url: string, publicUrl: string): string | undefined {
  const own = new URL(publicUrl).host;
  const isOtherName = host !== undefined && host !== own && LOOPBACK.test(host) && LOOPBACK.test(own);
  const hasSamePort = host?.replace(LOOPBACK, '$2') === own.replace(LOOPBACK, '$2');
  return isOtherName && hasSamePort ? `${publicUrl}${url}` : undefined;
}
