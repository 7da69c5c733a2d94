/** What a page, or the form on it, answers. Both consoles send these. */
import type { Html } from '@boxoffice/pages/html';
import type { StaticFile } from '../http/static-files.ts';

export interface Page {
  readonly title: string;
  /** The `main` element is around it. */
  readonly body: Html;
  readonly layout?: 'wide' | 'narrow' | 'hero';
  /** Reload after so many seconds, in browsers without JavaScript. */
  readonly reloadSeconds?: number;
  /** Go there at once. It may be of another site. */
  readonly goesTo?: string;
  /** The addresses of a script and of a style sheet of this page alone. */
  readonly script?: string;
  readonly style?: string;
}

export interface Redirect extends Cookies {
  readonly kind: 'redirect';
  readonly to: string;
  /** What the form did, which the next page tells. */
  readonly done?: Told;
}

/** What a form did, in a sentence, and the form that takes it back. */
export interface Told {
  readonly text: string;
  readonly undo?: Undo;
}

/** Sends `fields` to `path`. */
export interface Undo {
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
}

export type Answer =
  | ({ readonly kind: 'page'; readonly page: Page; readonly status?: number } & Cookies)
  | Redirect
  /** Its address changes with its content, so that it may be kept for ever. */
  | { readonly kind: 'asset'; readonly file: StaticFile }
  | {
      readonly kind: 'file';
      readonly type: string;
      readonly body: string;
      /** The browser saves it under this name. */
      readonly saveAs?: string;
    }
  /** A file that may be large, sent as fast as the browser takes it. */
  | {
      readonly kind: 'download';
      readonly type: string;
      readonly chunks: AsyncIterable<string | Buffer>;
      readonly saveAs: string;
      /** Called when the browser has everything, or hung up. */
      readonly close?: () => Promise<void>;
    }
  /** Events for an `EventSource`, until `gone` is aborted. */
  | { readonly kind: 'events'; readonly open: (gone: AbortSignal) => AsyncIterable<string> }
  | { readonly kind: 'json'; readonly status: number; readonly body: object };

/** The secret of a new session; `null`: the session is over. */
export type Cookie = { readonly secret: string | null };

interface Cookies {
  readonly cookie?: Cookie;
  /** The cookie of a log-in that goes on at the issuer. */
  readonly loginCookie?: Cookie;
}

export function page(shown: Page, status = 200): Answer {
  return { kind: 'page', page: shown, status };
}

export function redirect(to: string, cookie?: Cookie): Redirect {
  return { kind: 'redirect', to, ...(cookie && { cookie }) };
}

/** A form has done what `text` says: a sentence, which the page at `to` tells, with a button for `undo`. */
export function done(to: string, text: string, undo?: Undo): Redirect {
  return { kind: 'redirect', to, done: { text, ...(undo && { undo }) } };
}
