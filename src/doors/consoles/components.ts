/** The parts that pages are made of. */
import { randomUUID } from 'node:crypto';
import { type Html, type HtmlValue, html } from '@boxoffice/pages/html';
import type { Session } from '../../access/sessions/session.ts';
import { timeText } from '../../base/lib/short-time.ts';
import type { Threshold } from '../../money/alerts/alert-threshold.ts';
import { displayCents, displayMicros, MICROS_PER_CENT, MICROS_PER_DOLLAR } from '../../money/amount.ts';
import type { Month } from '../../money/month.ts';
import { faultLine } from './fault-notice.ts';

/** `$1,234.50`: to the nearest cent, half a cent away from zero. */
export function dollars(micros: bigint): string {
  const half = micros < 0n ? -MICROS_PER_CENT / 2n : MICROS_PER_CENT / 2n;
  return grouped(displayCents(micros + half)).replace(/^-(?=\$0\.00$)/, '');
}

/** To the cent from a dollar on, and exact below it: of less, the cents say little. */
export function roughly(micros: bigint): string {
  return micros < MICROS_PER_DOLLAR ? exact(micros) : dollars(micros);
}

/** `$1,234.500000`. */
export function exact(micros: bigint): string {
  return grouped(displayMicros(micros));
}

/** With a comma before each three digits of the whole number. */
export function grouped(text: string): string {
  return text.replace(/\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','));
}

/** `$5.00 of credit`, `24 hours of usage`. */
export function describeThreshold({ kind, below }: Threshold): string {
  return kind === 'balance'
    ? `${dollars(below)} of credit`
    : `${below.toLocaleString('en-US')} hours of usage`;
}

/** In UTC; the script shows it in the reader's zone. The text keeps its width then, so that nothing moves. */
export function timeOf(at: Date): Html {
  return html`<time datetime="${at.toISOString()}" title="${timeText(at)} UTC">${timeText(at)}</time>`;
}

/** How long it is until a time in the future; the script counts down. */
export function countDownTo(at: Date): Html {
  const left = Math.max(0, Math.floor((at.getTime() - Date.now()) / 1000));
  const two = (number: number) => String(number).padStart(2, '0');
  const text = `in ${Math.floor(left / 3600)}:${two(Math.floor(left / 60) % 60)}:${two(left % 60)}`;
  return html`<time datetime="${at.toISOString()}" title="${timeText(at)} UTC" data-until>${left === 0 ? 'now' : text}</time>`;
}

/** `90 s`, `5 min`, `2 h`. */
export function timeOfMs(ms: number): string {
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000} h`;
  return ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1_000} s`;
}

/** `November` of this year, `November 2025` of another one. */
export function monthText(month: Month, now: Date): string {
  const name = new Date(`${month}-01T00:00:00Z`).toLocaleString('en-US', { month: 'long', timeZone: 'UTC' });
  return month.slice(0, 4) === now.toISOString().slice(0, 4) ? name : `${name} ${month.slice(0, 4)}`;
}

/** `1 usage record`, `3,002 usage records`. */
export function countOf(count: number | bigint, what: string): string {
  return `${count.toLocaleString('en-US')} ${what}${Number(count) === 1 ? '' : 's'}`;
}

/** As the beginning of a sentence or a heading. */
export function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** A name that a user chose. Its direction of writing does not reach the text around it. */
export function named(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}

/** Words joined by underscores or dots, such as a type of event: where it is narrow, a line ends between them. */
export function codeOf(words: string): Html {
  const [first, ...others] = words.split(/(?<=[_.])/);
  return html`<code class="words">${first}${others.map((each) => html`<wbr>${each}`)}</code>`;
}

/** A name that a user chose, and below it the id. */
export function nameWithId(name: string, id: string): Html {
  return html`<span class="name">${named(name)} <code>${id}</code></span>`;
}

export function badge(text: string, look: 'good' | 'bad' | 'warn' | '' = ''): Html {
  return html`<span class="badge ${look}">${text}</span>`;
}

/** What is wrong with the fields of a form, by name. */
export type Faults = Readonly<Record<string, string>>;

interface Field {
  readonly name: string;
  /** If the page has several fields of this name. */
  readonly id?: string;
  readonly label: HtmlValue;
  readonly value?: string | undefined;
  readonly hint?: HtmlValue;
  readonly faults?: Faults;
  /** Further attributes of the input. */
  readonly input?: Html;
}

export function field({ name, id = name, label, value = '', hint, faults = {}, input }: Field): Html {
  const fault = faults[name];
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ');
  return html`<div class="field">
<label for="${id}">${label}</label>
<input id="${id}" name="${name}" value="${value}"${input && html` ${input}`}${
    described !== '' && html` aria-describedby="${described}"`
  }${fault !== undefined && html` aria-invalid="true"`}>
${fault !== undefined && faultLine(id, fault)}
${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}
</div>`;
}

/** A field of several lines. */
export function textArea({ name, id = name, label, value = '', hint, faults = {}, input }: Field): Html {
  const fault = faults[name];
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ');
  return html`<div class="field">
<label for="${id}">${label}</label>
<textarea id="${id}" name="${name}"${input && html` ${input}`}${
    described !== '' && html` aria-describedby="${described}"`
  }${fault !== undefined && html` aria-invalid="true"`}>
${value}</textarea>
${fault !== undefined && faultLine(id, fault)}
${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}
</div>`;
}

export interface Choice {
  readonly value: string;
  readonly text: string;
}

export function select(
  name: string,
  label: string,
  choices: readonly Choice[],
  chosen: string,
  faults: Faults = {},
): Html {
  const fault = faults[name];
  return html`<div class="field"><label for="${name}">${label}</label>
<select id="${name}" name="${name}"${
    fault !== undefined && html` aria-describedby="${name}-fault" aria-invalid="true"`
  }>${choices.map(
    ({ value, text }) =>
      html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`,
  )}</select>${fault !== undefined && faultLine(name, fault)}</div>`;
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

/** A choice that is sent as `on`, or not at all. */
export function checkbox(
  name: string,
  label: HtmlValue,
  isChecked: boolean,
  hint?: HtmlValue,
  isWrong = false,
): Html {
  return html`<div class="check"><input type="checkbox" id="${name}" name="${name}"${isChecked && html` checked`}${
    hint && html` aria-describedby="${name}-hint"`
  }${isWrong && html` aria-invalid="true"`}><label for="${name}">${label}</label>${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}</div>`;
}

/** `what` needs a log-in of the last minutes, which this session does not have. */
export function freshNote(
  { isFresh }: Pick<Session, 'isFresh'>,
  what: string,
  path: string,
): Html | undefined {
  if (isFresh) return undefined;
  return html`<p class="note">${what}, <a href="/console/confirm?next=${path}">log in again</a>.</p>`;
}

/** A table that scrolls in itself where the screen is narrow. One of names and values is `slim`, so that a line can be read across. */
export function scrolling(label: string, table: Html, look: 'wide' | 'slim' = 'wide'): Html {
  return html`<div class="scroll${look === 'slim' && ' slim'}" role="region" aria-label="${label}" tabindex="0">${table}</div>`;
}

/** What makes a form take effect once, though it may be sent twice. */
export function formId(): Html {
  return html`<input type="hidden" name="form" value="${randomUUID()}">`;
}
