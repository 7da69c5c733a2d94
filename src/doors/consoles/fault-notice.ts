/** The notice above a page whose form came back: what is wrong at its fields, for readers who do not see them at once. */
import { Html, html } from '@boxoffice/pages/html';

/** What is wrong with the field `id`, beside it. The notice above the page finds it there, so no page passes it on. */
export function faultLine(id: string, fault: string): Html {
  return html`<p class="wrong" id="${id}-fault">${fault}</p>`;
}

const FAULT_LINE = /<p class="wrong" id="([\w-]+)-fault">(.*?)<\/p>/gs;

/**
 * Each fault in `body`, as a link to its field; `undefined`: there is none. The notice has the focus, because many screen
 * readers do not read an alert that is there when the page opens.
 */
export function faultNotice({ text }: Html): Html | undefined {
  const faults = [...text.matchAll(FAULT_LINE)].map(([, id, fault]) => {
    const [, label] = new RegExp(`<label for="${id}">(.*?)</label>`, 's').exec(text) ?? [];
    return html`<li><a href="#${id}">${label !== undefined && html`${new Html(label)}: `}${new Html(fault!)}</a></li>`;
  });
  if (faults.length === 0) return undefined;
  return html`<div class="alert" role="alert" tabindex="-1" autofocus><p>Nothing was done. Please correct:</p>
<ul>${faults}</ul></div>\n`;
}
