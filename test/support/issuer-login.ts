/** Log-ins with the issuer, step by step, as a browser makes them. */
import { expect } from 'vitest';
import { getPage, sendForm } from './console.ts';
import type { Answer, TestService } from './service.ts';

/** The name of the cookie of an attempt over plain HTTP. */
export const LOGIN_COOKIE = 'boxoffice-login';

export interface BegunInBrowser {
  /** Where the page leads. */
  readonly url: string;
  /** The `Cookie` header of the attempt. */
  readonly cookie: string;
  readonly answer: Answer;
}

/** Where a page leads at once, and the cookie of the attempt that it sets. */
export function attemptOf(answer: Answer, cookieName = LOGIN_COOKIE): BegunInBrowser {
  expect(answer.status).toBe(200);
  const [, url = ''] = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(answer.text) ?? [];
  return { url: url.replaceAll('&amp;', '&'), cookie: cookiesOf(answer)[cookieName] ?? '', answer };
}

/** Press the button of the log-in page. */
export async function begin(app: TestService, next = '/console'): Promise<BegunInBrowser> {
  return attemptOf(await sendForm(app, '/console/login/oidc', { next }));
}

/** Come back from the issuer. */
export function comeBack(app: TestService, back: URL, cookie: string): Promise<Answer> {
  return getPage(app, `${back.pathname}${back.search}`, cookie);
}

/** The cookies that an answer sets, by name, each as a `Cookie` header. One that it removes is `''`. */
export function cookiesOf({ headers }: Answer): Readonly<Record<string, string>> {
  return Object.fromEntries(
    headers.getSetCookie().map((each) => {
      const [pair = ''] = each.split(';');
      const [name = '', value] = pair.split('=');
      return [name, value === '' ? '' : pair];
    }),
  );
}
