/**
 * What a form did, told once on the page that the browser opens next. A cookie brings it there, so that neither the address nor a page
 * that is loaded again says it. It is bound to the session: neither the next person at the browser nor another site makes or reads one.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Html, html } from '@boxoffice/pages/html';
import type { Told } from './answer.ts';
import { named } from './components.ts';
import { cookieName, isSecure } from './cookie.ts';

/** A page that is not opened by then would tell old news. */
const SECONDS = 60;
/** Cookies have a few kilobytes, and a character takes up to twelve bytes there. */
const LENGTH_MAX = 200;
/** Browsers drop a cookie of more than 4 KiB with its name, and with it what was done. */
const BYTES_MAX = 3_900;

/** Where the cookie is, and the secret of the session. */
export interface DonePlace {
  readonly publicUrl: string;
  readonly secret: string;
  /** The name of the session's cookie; absent: that of tenants. */
  readonly console?: string | undefined;
}

/** `null`: it has been told. */
export function renderDoneCookie(place: DonePlace, told: Told | null): string {
  const value = told === null ? '' : renderTold(place, told);
  const secure = isSecure(place.publicUrl) ? '; Secure' : '';
  const life = `Max-Age=${told === null ? 0 : SECONDS}`;
  return `${nameOf(place)}=${value}; Path=/; ${life}; HttpOnly; SameSite=Lax${secure}`;
}

/** Without what takes it back, if that is too long. */
function renderTold(place: DonePlace, { text, undo }: Told): string {
  const short = [...text].slice(0, LENGTH_MAX).join('');
  const all = JSON.stringify({ text: short, undo });
  const told = encodeURIComponent(all).length > BYTES_MAX ? JSON.stringify({ text: short }) : all;
  return `${macOf(place, told)}.${encodeURIComponent(told)}`;
}

/** What is to be told, if anything. */
export function readDoneCookie(place: DonePlace, header: string | undefined): Told | undefined {
  const start = `${nameOf(place)}=`;
  const found = (header ?? '').split(/; */).find((each) => each.startsWith(start));
  const value = found?.slice(start.length) ?? '';
  const mac = value.split('.', 1)[0]!;
  try {
    const text = decodeURIComponent(value.slice(mac.length + 1));
    const own = Buffer.from(macOf(place, text));
    const given = Buffer.from(mac);
    return own.length === given.length && timingSafeEqual(own, given) ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

function macOf({ secret }: DonePlace, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}

function nameOf({ publicUrl, console = 'boxoffice' }: DonePlace): string {
  return cookieName(publicUrl, `${console}-done`);
}

export function renderDone({ text, undo }: Told): Html {
  return html`<div class="done" role="status"><span>${named(text)}</span>${
    undo &&
    html` <form class="inline" method="post" action="${undo.path}">${Object.entries(undo.fields).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
    )}<button>Undo</button></form>`
  }</div>`;
}
