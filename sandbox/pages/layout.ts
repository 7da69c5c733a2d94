/** The layout of every page, and the headers that block foreign code. */
import { renderDocument } from '@boxoffice/pages/document';
import { type Html, html } from '@boxoffice/pages/html';
import { contentSecurityPolicy } from '@boxoffice/pages/policy';
import type { Reply } from '../http/request.ts';

export interface Page {
  readonly title: string;
  readonly body: Html;
  /** A class for the body, to lay the page out. */
  readonly layout: 'checkout' | 'narrow' | 'wide';
  readonly status?: number;
  /** URLs of other sites that a form on this page may redirect to. */
  readonly leadsTo?: ReadonlyArray<string | null>;
  /** The page shows another page of the sandbox in a frame. */
  readonly hasFrame?: boolean;
}

export function renderPage(page: Page): Reply {
  const document = renderDocument({
    title: page.title,
    head: html`<link rel="icon" href="/assets/icon.svg">
<link rel="stylesheet" href="/assets/style.css">`,
    bodyClass: page.layout,
    body: html`<p class="banner"><strong>Sandbox.</strong> No real money moves here.</p>
${page.body}`,
  });
  return {
    status: page.status ?? 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policyOf(page),
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
    },
    body: document,
  };
}

/** A page that only shows a message. */
export function renderNotice(status: number, title: string, text: string, link: Html | null = null): Reply {
  const body = html`<main><h1>${title}</h1><p>${text}</p>${link === null ? null : html`<p>${link}</p>`}</main>`;
  return renderPage({ title, body, layout: 'narrow', status });
}

export function redirect(location: string): Reply {
  return { status: 303, headers: { location }, body: '' };
}

export function alert(message: string | null): Html | null {
  return message === null ? null : html`<p class="alert" role="alert">${message}</p>`;
}

/** Browsers also apply `form-action` to the redirect after a form, so other sites must be listed. */
function policyOf({ leadsTo = [], hasFrame = false }: Page): string {
  const origins = leadsTo.flatMap((url) => (url === null ? [] : [new URL(url).origin]));
  return contentSecurityPolicy({ style: "'self'", forms: ["'self'", ...origins], frames: hasFrame });
}
