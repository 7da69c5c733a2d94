/** The input of a page. */
import type { Control } from '../control/control.ts';
import type { FormObject } from '../http/form.ts';
import type { Mailbox } from '../mailbox.ts';
import type { Provider } from '../provider.ts';

export interface PageCall {
  readonly provider: Provider;
  readonly control: Control;
  /** `undefined`: the merchant gave none. */
  readonly mailbox: Mailbox | undefined;
  /** The path parameters. */
  readonly names: Record<string, string>;
  /** The fields of the form, or of the query. */
  readonly form: FormObject;
}
