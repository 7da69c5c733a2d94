/** The form that replaces a secret, and the choice of how long the old one works on. */
import { type Html, html } from '@boxoffice/pages/html';
import { OVERLAP_SECONDS_DEFAULT, OVERLAP_SECONDS_MAX } from '../../access/keys/rotation-overlap.ts';
import { Failure, invalidField } from '../../base/failure.ts';
import { formId } from '../consoles/components.ts';
import type { Form } from '../http/form.ts';

const OVERLAPS: readonly { readonly seconds: number; readonly text: (what: string) => string }[] = [
  { seconds: 0, text: (what) => `old ${what} stops at once` },
  { seconds: 3_600, text: () => 'both work 1 hour' },
  { seconds: OVERLAP_SECONDS_DEFAULT, text: () => 'both work 1 day' },
  { seconds: OVERLAP_SECONDS_MAX, text: () => 'both work 7 days' },
];

/** `what` is replaced: a key, a secret. `name`: of the one that has it. */
export function rotationForm(action: string, what: string, name: string): Html {
  return html`<form class="inline" method="post" action="${action}">${formId()}
<select name="overlap" aria-label="Overlap when ${name} is rotated">${OVERLAPS.map(
    ({ seconds, text }) =>
      html`<option value="${seconds}"${seconds === OVERLAP_SECONDS_DEFAULT && html` selected`}>${text(what)}</option>`,
  )}</select> <button>Rotate<span class="hidden"> ${name}</span></button></form>`;
}

/** Why a rotation came too late, such as one of another tab; `undefined` for any other error. */
export function lateRotation(error: unknown, what: string): string | undefined {
  if (!(error instanceof Failure)) return undefined;
  if (error.kind === 'already_rotated')
    return `This ${what} was replaced already, perhaps in another tab: nothing was changed now. Its successor is in the list.`;
  if (error.kind === 'already_revoked')
    return `This ${what} was revoked, perhaps in another tab: nothing was changed now.`;
  return undefined;
}

/** In seconds. Fails with `invalid_request`. */
export function parseOverlap(form: Form): number {
  const overlap = OVERLAPS.find(({ seconds }) => String(seconds) === form.get('overlap'));
  if (!overlap) throw invalidField('overlap', 'must be one of the choices');
  return overlap.seconds;
}
