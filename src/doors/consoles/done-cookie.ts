/**
 * What a form did, told once on the page that the browser opens next. A cookie brings it there, so that neither the address nor a page
 * that is loaded again says it.
 */
import { type Html, html } from '@boxoffice/pages/html';
import { named } from './components.ts';
import { cookieName, isSecure } from './cookie.ts';

/** A page that is not opened by then would tell old news. */
const SECONDS = 60;
/** Cookies have a few kilobytes, and a character takes up to twelve bytes there. */
const LENGTH_MAX = 200;

/** `console`: the name of the session's cookie. `null`: it has been told. */
export function renderDoneCookie(publicUrl: string, text: string | null, console?: string): string {
  const value = text === null ? '' : encodeURIComponent([...text].slice(0, LENGTH_MAX).join(''));
  const secure = isSecure(publicUrl) ? '; Secure' : '';
  const life = `Max-Age=${text === null ? 0 : SECONDS}`;
  return `${nameOf(publicUrl, console)}=${value}; Path=/; ${life}; HttpOnly; SameSite=Lax${secure}`;
}

/** What is to be told, if anything. */
export function readDoneCookie(
  publicUrl: string,
  header: string | undefined,
  console?: string,
): string | undefined {
  const start = `${nameOf(publicUrl, console)}=`;
  const found = (header ?? '').split(/; */).find((each) => each.startsWith(start));
  try {
    return decodeURIComponent(found?.slice(start.length) ?? '') || undefined;
  } catch {
    return undefined;
  }
}

function nameOf(publicUrl: string, console = 'boxoffice'): string {
  return cookieName(publicUrl, `${console}-done`);
}

export function renderDone(text: string): Html {
  return html`<p class="done" role="status">${named(text)}</p>`;
}
