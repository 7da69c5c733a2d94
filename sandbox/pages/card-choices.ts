/** The test cards to choose from, on the payment page and in the portal. */

import { type Html, html } from '@boxoffice/pages/html';
import type { FormObject } from '../http/form.ts';
import { findInstrument, INSTRUMENTS, type Instrument } from '../objects/cards.ts';
import { formatInstrument } from './format.ts';

/** Shown at once; the others are folded. */
const FEATURED = ['4242424242424242', '4000002760003184', '4000000000009995', 'bank_debit_succeeds'];

export interface ChoicesOptions {
  readonly types: readonly string[];
  readonly legend: string;
  /** What was chosen before; by default the first card. */
  readonly chosen?: Instrument | undefined;
}

/** A choice of instruments, and a field for a card number, which takes precedence if it is filled in. */
export function cardChoices({ types, legend, chosen }: ChoicesOptions): Html {
  const offered = INSTRUMENTS.filter(({ type }) => types.includes(type));
  const featured = offered.filter(({ id }) => FEATURED.includes(id));
  const others = offered.filter(({ id }) => !FEATURED.includes(id));
  const checked = offered.find(({ id }) => id === chosen?.id) ?? featured[0];
  const render = (instrument: Instrument) => choice(instrument, instrument === checked);
  return html`<fieldset>
<legend>${legend}</legend>
<div class="choices">${featured.map(render)}</div>
<details${others.some((each) => each === checked) ? html` open` : null}>
<summary>More test cards</summary>
<div class="choices">${others.map(render)}</div>
</details>
</fieldset>
<p class="field">
<label for="card_number">Or type a test card number <span class="hint">(optional)</span></label>
<input id="card_number" name="card_number" inputmode="numeric" autocomplete="off" maxlength="30" placeholder="4242 4242 4242 4242" aria-describedby="card_number_hint">
<span class="hint" id="card_number_hint">Never type the number of a real card.</span>
</p>`;
}

/** The chosen instrument; undefined if the sandbox does not know it. */
export function readChoice(form: FormObject, types: readonly string[]): Instrument | undefined {
  const { card, card_number: typed } = form;
  const name = typeof typed === 'string' && typed.trim() !== '' ? typed : card;
  const instrument = typeof name === 'string' ? findInstrument(name) : undefined;
  return instrument !== undefined && types.includes(instrument.type) ? instrument : undefined;
}

function choice(instrument: Instrument, checked: boolean): Html {
  return html`<label class="choice">
<input type="radio" name="card" value="${instrument.id}"${checked ? html` checked` : null}>
<span class="choice-label">${instrument.label}</span>
<span class="choice-card">${formatInstrument(instrument)}</span>
</label>`;
}
