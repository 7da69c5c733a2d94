/** A page whose form came back: above it a notice with what is wrong, for readers who do not see it at once, and the focus at the first wrong field. */
import { Html, html } from '@boxoffice/pages/html';

/** What is wrong with the field `id`, beside it. The notice above the page finds it there, so no page passes it on. */
export function faultLine(id: string, fault: string): Html {
  return html`<p class="wrong" id="${id}-fault">${fault}</p>`;
}

const FAULT_LINE = /<p class="wrong" id="([\w-]+)-fault">(.*?)<\/p>/gs;

const WRONG = ' aria-invalid="true"';

/**
 * `body` with the focus in its first wrong field, and above it each fault, as a link to its field. Where no field can have the focus,
 * the notice has it, because many screen readers do not read an alert that is there when the page opens.
 */
export function tellFaults(body: Html): Html {
  const { text } = body;
  const faults = [...text.matchAll(FAULT_LINE)].map(([, id, fault]) => {
    const [, label] = new RegExp(`<label for="${id}">(.*?)</label>`, 's').exec(text) ?? [];
    return html`<li><a href="#${id}">${label !== undefined && html`${new Html(label)}: `}${new Html(fault!)}</a></li>`;
  });
  if (faults.length === 0) return body;
  const isAtField = text.includes(WRONG);
  return html`<div class="alert" role="alert" tabindex="-1"${!isAtField && html` autofocus`}><p>Nothing was done. Please correct:</p>
<ul>${faults}</ul></div>
${new Html(text.replace(WRONG, `${WRONG} autofocus`))}`;
}
