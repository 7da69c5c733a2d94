/** The fields of billing details, as the forms of both consoles have them. */
import { type Html, html } from '@boxoffice/pages/html';
import {
  ADDRESS_LINE_LENGTH_MAX,
  ADDRESS_LINES_MAX,
  type BillingDetails,
  LEGAL_NAME_LENGTH_MAX,
  parseDetails,
  TAX_ID_LENGTH_MAX,
} from '../../money/statements/billing-details.ts';
import type { Form } from '../http/form.ts';
import { type Faults, field } from './components.ts';
import { readFields } from './read-fields.ts';

const LINE_NAMES = Array.from({ length: ADDRESS_LINES_MAX }, (_, at) => `line${at + 1}`);

export const DETAILS_FIELDS: readonly string[] = ['name', ...LINE_NAMES, 'tax_id'];

/** What the form says. Empty fields are left out. Fails with `WrongFields`. */
export function parseDetailsForm(form: Form): BillingDetails {
  const given = (name: string) => (form.get(name) ?? '').trim() || undefined;
  const lines = LINE_NAMES.filter(given);
  readFields({
    name: () => parseDetails({ name: given('name') }),
    tax_id: () => parseDetails({ tax_id: given('tax_id') }),
    ...Object.fromEntries(lines.map((name) => [name, () => parseDetails({ address: [given(name)!] })])),
  });
  return parseDetails({
    name: given('name'),
    address: lines.map((name) => given(name)!),
    tax_id: given('tax_id'),
  });
}

/** `typed`: what was sent before; `isFixed`: the reader may not change them. */
export function detailsFields({
  stored: { name, address, taxId },
  typed,
  faults,
  isFixed = false,
}: {
  readonly stored: BillingDetails;
  readonly typed: Form | undefined;
  readonly faults: Faults;
  readonly isFixed?: boolean;
}): Html {
  const input = (at: string, label: string, stored: string | undefined, lengthMax: number) =>
    field({
      name: at,
      label,
      value: typed?.get(at) ?? stored,
      faults,
      input: html`maxlength="${lengthMax}" autocomplete="off"${isFixed && html` readonly`}`,
    });
  return html`${input('name', 'Legal name', name, LEGAL_NAME_LENGTH_MAX)}
<fieldset><legend>Address</legend>
${LINE_NAMES.map((each, at) => input(each, `Line ${at + 1}`, address[at], ADDRESS_LINE_LENGTH_MAX))}</fieldset>
${input('tax_id', 'Tax id', taxId, TAX_ID_LENGTH_MAX)}`;
}
