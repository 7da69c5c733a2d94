/** The parts that pages are made of. */
import { randomUUID } from 'node:crypto';
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import { displayMicros } from '../../money/amount.ts';

/** `$1,234.50`: to the cent, cut off toward zero. */
export function dollars(micros: bigint): string {
  return grouped(displayMicros(micros).slice(0, -4));
}

/** `$1,234.500000`. */
export function exact(micros: bigint): string {
  return grouped(displayMicros(micros));
}

/** With a comma before each three digits of the whole number. */
function grouped(text: string): string {
  return text.replace(/\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','));
}

/** In UTC; the script shows it in the reader's zone. */
export function timeOf(at: Date): Html {
  const iso = at.toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC</time>`;
}

/** A time in the future; the script counts down to it. */
export function countDownTo(at: Date): Html {
  const iso = at.toISOString();
  return html`<time datetime="${iso}" data-until>${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC</time>`;
}

/** A name that somebody chose. Its direction of writing does not reach the text around it. */
export function named(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}

export function badge(text: string, look: 'good' | 'bad' | 'warn' | '' = ''): Html {
  return html`<span class="badge ${look}">${text}</span>`;
}

/** What is wrong with the fields of a form, by name. */
export type Faults = Readonly<Record<string, string>>;

interface Field {
  readonly name: string;
  readonly label: HtmlValue;
  readonly value?: string | undefined;
  readonly hint?: HtmlValue;
  readonly faults?: Faults;
  /** Further attributes of the input. */
  readonly input?: Html;
}

export function field({ name, label, value = '', hint, faults = {}, input }: Field): Html {
  const fault = faults[name];
  const described = [hint && `${name}-hint`, fault && `${name}-fault`].filter(Boolean).join(' ');
  return html`<div class="field">
<label for="${name}">${label}</label>
<input id="${name}" name="${name}" value="${value}"${input && html` ${input}`}${
    described !== '' && html` aria-describedby="${described}"`
  }${fault !== undefined && html` aria-invalid="true"`}>
${fault !== undefined && html`<p class="wrong" id="${name}-fault">${fault}</p>`}
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
</div>`;
}

export interface Choice {
  readonly value: string;
  readonly text: string;
}

export function select(name: string, label: string, choices: readonly Choice[], chosen: string): Html {
  return html`<div class="field"><label for="${name}">${label}</label>
<select id="${name}" name="${name}">${choices.map(
    ({ value, text }) =>
      html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`,
  )}</select></div>`;
}

export function alert(message: string | undefined): Html | undefined {
  return message === undefined ? undefined : html`<p class="alert" role="alert">${message}</p>`;
}

/** A secret that is shown once. */
export function secretBox(id: string, label: string, secret: string): Html {
  return html`<p class="label" id="${id}-label">${label}</p>
<div class="secret"><code id="${id}" aria-labelledby="${id}-label" role="group" tabindex="0">${secret}</code>
<button type="button" data-copy="${id}" hidden>Copy</button></div>`;
}

export function emptyState(title: string, text: HtmlValue): Html {
  return html`<div class="empty"><strong>${title}</strong> ${text}</div>`;
}

/** A table that scrolls in itself where the screen is narrow. */
export function scrolling(label: string, table: Html): Html {
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0">${table}</div>`;
}

/** What makes a form take effect once, though it may be sent twice. */
export function formId(): Html {
  return html`<input type="hidden" name="form" value="${randomUUID()}">`;
}
