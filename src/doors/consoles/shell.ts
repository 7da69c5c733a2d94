/** What is around every page of both consoles: the head, the bar with the navigation, and `main`. */
import { renderDocument } from '@boxoffice/pages/document';
import { type Html, html } from '@boxoffice/pages/html';
import { contentSecurityPolicy } from '@boxoffice/pages/policy';
import type { Page } from './answer.ts';
import { ICON_ASSET, SCRIPT_ASSET, STYLE_ASSET } from './assets/assets.ts';
import { tellFaults } from './fault-notice.ts';

export const PAGE_POLICY = contentSecurityPolicy({ style: "'self'", script: true, forms: ["'self'"] });

interface Shell {
  /** Whose console it is, after the title. */
  readonly site: string;
  readonly brand: Html;
  readonly navigation: Html | undefined;
  readonly footer?: Html;
}

export function renderShell(
  { title, body, layout = 'wide', script, style, reloadSeconds, goesTo }: Page,
  { site, brand, navigation, footer }: Shell,
): string {
  return renderDocument({
    title: `${title} · ${site}`,
    head: html`<link rel="icon" href="${ICON_ASSET.path}">
<link rel="stylesheet" href="${STYLE_ASSET.path}">
${style !== undefined && html`<link rel="stylesheet" href="${style}">\n`}<script src="${SCRIPT_ASSET.path}" defer></script>
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
${tellFaults(body)}
</main>
${footer}`,
  });
}

/** A page that the navigation leads to, and all pages below its path. */
export interface Section {
  readonly path: string;
  readonly name: string;
  /** Pages that belong to it and are not below it. */
  readonly also?: readonly string[];
  /** The navigation shows groups, and below them the sections of the group that is open. */
  readonly group: string;
}

/** The navigation over `sections` for a reader at `path`: `who` stands between the groups and the open one. */
export function renderNavigation(name: string, sections: readonly Section[], path: string, who: Html): Html {
  const current = sectionAt(sections, path);
  const groups = [...new Set(sections.map(({ group }) => group))];
  const siblings = sections.filter(({ group }) => group === current?.group);
  return html`<nav aria-label="${name}">${groups.map((group) =>
    sectionLink(sections.find((each) => each.group === group)!, group, group === current?.group, path),
  )}</nav>
${renderWho(who)}
${siblings.length > 1 && html`<nav class="within" aria-label="${current!.group}">${siblings.map((each) => sectionLink(each, each.name, each === current, path))}</nav>`}`;
}

/** Where the reader is: the last section that `path` is, or is below of. Everything is below `/console`. */
export function sectionAt(sections: readonly Section[], path: string): Section | undefined {
  const isAt = (place: string) => path === place || (place !== '/console' && path.startsWith(`${place}/`));
  return sections.findLast((each) => [each.path, ...(each.also ?? [])].some(isAt));
}

function sectionLink(to: Section, name: string, isCurrent: boolean, path: string): Html {
  const current = to.path === path ? 'page' : 'true';
  return html`<a href="${to.path}"${isCurrent && html` aria-current="${current}"`}>${name}</a>`;
}

/** Who is logged in, and the way out. */
export function renderWho(who: Html): Html {
  return html`<div class="who">${who}<noscript><span>Times are in UTC</span></noscript>
<form class="inline" method="post" action="/console/logout"><button class="plain">Log out</button></form></div>`;
}
