/** Name, address and tax id of a party of a statement: of the tenant, or of the operator who issues it. */
import { invalidField } from '../../base/failure.ts';
import { parseLine } from '../../base/lib/one-line.ts';

/** Lengths in characters. The table checks them too, but for those of lines. */
export const LEGAL_NAME_LENGTH_MAX = 200;
export const ADDRESS_LINES_MAX = 6;
export const ADDRESS_LINE_LENGTH_MAX = 100;
export const TAX_ID_LENGTH_MAX = 50;

export interface BillingDetails {
  /** The legal name. */
  readonly name: string | undefined;
  /** Its lines; none: it is not known. */
  readonly address: readonly string[];
  readonly taxId: string | undefined;
}

export const NO_DETAILS: BillingDetails = { name: undefined, address: [], taxId: undefined };

/** As JSON; `undefined` if nothing is known. Members that are `undefined` are left out of it. */
export function renderDetails({ name, address, taxId }: BillingDetails) {
  if (name === undefined && address.length === 0 && taxId === undefined) return undefined;
  return { name, address: address.length > 0 ? [...address] : undefined, tax_id: taxId };
}

/** The members of a request. */
export interface GivenDetails {
  readonly name?: string | undefined;
  readonly address?: readonly string[] | undefined;
  readonly tax_id?: string | undefined;
}

/** Without spaces around the texts. Fails with `invalid_request`. */
export function parseDetails({ name, address = [], tax_id }: GivenDetails): BillingDetails {
  if (address.length > ADDRESS_LINES_MAX) {
    throw invalidField('address', `must not have more than ${ADDRESS_LINES_MAX} items`);
  }
  return {
    name: name === undefined ? undefined : parseText('name', name, LEGAL_NAME_LENGTH_MAX),
    address: address.map((line, at) => parseText(`address/${at}`, line, ADDRESS_LINE_LENGTH_MAX)),
    taxId: tax_id === undefined ? undefined : parseText('tax_id', tax_id, TAX_ID_LENGTH_MAX),
  };
}

function parseText(field: string, text: string, lengthMax: number): string {
  const line = parseLine(text, lengthMax);
  if (line === undefined) {
    throw invalidField(field, `must be 1 to ${lengthMax} characters in one line, without control characters`);
  }
  return line;
}
