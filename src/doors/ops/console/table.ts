/** Tables of operators' pages, which become lists of rows where the screen is narrow. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import { renderTenantId, type TenantId } from '../../../base/tenants/tenant.ts';
import { scrolling } from '../../pages/components.ts';

/** `label` names it for screen readers. Columns named in `numbers` are aligned to the right. Without rows, a line says so. */
export function table(
  label: string,
  headings: readonly string[],
  rows: readonly (readonly HtmlValue[])[],
  { numbers = [] }: { readonly numbers?: readonly string[] } = {},
): Html {
  if (rows.length === 0) return html`<p class="hint">${label}: none.</p>`;
  const look = (heading: string) => numbers.includes(heading) && html` class="number"`;
  return scrolling(
    label,
    html`<table class="rows"><caption class="hidden">${label}</caption>
<thead><tr>${headings.map((each) => html`<th scope="col"${look(each)}>${each}</th>`)}</tr></thead>
<tbody>${rows.map(
      (cells) =>
        html`<tr>${cells.map(
          (cell, at) => html`<td${look(headings[at]!)} data-label="${headings[at]}">${cell}</td>`,
        )}</tr>`,
    )}</tbody></table>`,
  );
}

/** Names and values, one pair a line. A value that is nothing is a dash. */
export function facts(label: string, pairs: Readonly<Record<string, HtmlValue>>): Html {
  return scrolling(
    label,
    html`<table><caption class="hidden">${label}</caption><tbody>${Object.entries(pairs).map(
      ([name, value]) =>
        html`<tr><th scope="row">${name}</th><td>${value === null || value === undefined || value === '' ? '–' : value}</td></tr>`,
    )}</tbody></table>`,
    'slim',
  );
}

export function tenantLink(tenant: TenantId | null): Html | undefined {
  if (tenant === null) return undefined;
  const id = renderTenantId(tenant);
  return html`<a href="/console/tenants/${id}"><code>${id}</code></a>`;
}
