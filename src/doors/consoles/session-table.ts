/** Sessions as a table, in both consoles. */
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import type { LoginTraces } from '../../access/sessions/session.ts';
import { badge, timeOf } from './components.ts';
import { table } from './table.ts';

export interface SessionLine extends LoginTraces {
  readonly id: string;
  /** Whose it is, or by what the log-in was proved: one cell for each heading of the table. */
  readonly cells: readonly HtmlValue[];
}

/** `current`: the session of the reader, which is ended with a log-out. `endPath`: the form that ends one; `undefined`: there is none. */
export function sessionTable(
  label: string,
  headings: readonly string[],
  lines: readonly SessionLine[],
  { current, endPath }: { readonly current: string | undefined; readonly endPath: string | undefined },
): Html {
  return table(
    label,
    ['Device', 'Network', ...headings, 'Logged in', 'Last used', endPath !== undefined && 'End'],
    lines.map(({ id, device, network, cells, createdAt, seenAt }) => [
      html`<span>${device ?? 'unknown device'}${id === current && html` ${badge('this session', 'good')}`}</span>`,
      network === null ? 'unknown' : html`<code>${network}</code>`,
      ...cells,
      timeOf(createdAt),
      timeOf(seenAt),
      endPath !== undefined && (id === current ? '–' : endForm(endPath, id, device)),
    ]),
    { names: 'Device' },
  );
}

function endForm(path: string, id: string, device: string | null): Html {
  return html`<form class="inline" method="post" action="${path}"><input type="hidden" name="session" value="${id}">
<button class="danger">End<span class="hidden"> the session of ${device ?? 'an unknown device'}</span></button></form>`;
}

/** A button that ends all sessions that are shown. */
export function endAllForm(path: string, words: string): Html {
  return html`<form method="post" action="${path}"><p><button class="danger">${words}</button></p></form>`;
}
