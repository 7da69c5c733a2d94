/** What is around every page of both consoles: the head, the bar with the navigation, and `main`. */
import { renderDocument } from '@boxoffice/pages/document';
import { type Html, html } from '@boxoffice/pages/html';
import { contentSecurityPolicy } from '@boxoffice/pages/policy';
import type { Page } from './answer.ts';
import { ICON_ASSET, SCRIPT_ASSET, STYLE_ASSET } from './assets/assets.ts';

export const PAGE_POLICY = contentSecurityPolicy({ style: "'self'", script: true, forms: ["'self'"] });

interface Shell {
  /** Whose console it is, after the title. */
  readonly site: string;
  readonly brand: Html;
  readonly navigation: Html | undefined;
  readonly footer?: Html;
}

export function renderShell(
  { title, body, layout = 'wide', script, reloadSeconds, goesTo }: Page,
  { site, brand, navigation, footer }: Shell,
): string {
  return renderDocument({
    title: `${title} · ${site}`,
    head: html`<link rel="icon" href="${ICON_ASSET.path}">
<link rel="stylesheet" href="${STYLE_ASSET.path}">
<script src="${SCRIPT_ASSET.path}" defer></script>
${script !== undefined && html`<script src="${script}" defer></script>\n`}${
  reloadSeconds !== undefined &&
  html`<noscript><meta http-equiv="refresh" content="${reloadSeconds}"></noscript>`
}${goesTo !== undefined && html`<meta http-equiv="refresh" content="0; url=${goesTo}">`}`,
    bodyClass: layout,
    body: html`<a class="skip" href="#main">Skip to the content</a>
<header class="top"><div>
${brand}
${navigation}
</div></header>
<main id="main"${layout === 'hero' && html` class="hero"`}>
${body}
</main>
${footer}`,
  });
}

interface Place {
  readonly path: string;
  /** Pages that belong to it and are not below it. */
  readonly also?: readonly string[];
}

/** Where the reader is: the last of `places` that `path` is, or is below of. Everything is below `/console`. */
export function placeOf<P extends Place>(places: readonly P[], path: string): P | undefined {
  const isAt = (place: string) => path === place || (place !== '/console' && path.startsWith(`${place}/`));
  return places.findLast((each) => [each.path, ...(each.also ?? [])].some(isAt));
}

/** A link of a navigation. */
export function placeLink(to: Place, name: string, isCurrent: boolean, path: string): Html {
  const current = to.path === path ? 'page' : 'true';
  return html`<a href="${to.path}"${isCurrent && html` aria-current="${current}"`}>${name}</a>`;
}

/** Who is logged in, and the way out. */
export function whoIs(who: Html): Html {
  return html`<div class="who">${who}<noscript><span>Times are in UTC</span></noscript>
<form class="inline" method="post" action="/console/logout"><button class="plain">Log out</button></form></div>`;
}
