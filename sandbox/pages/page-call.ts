/** What a page is given. */
import type { Control } from '../control/control.ts';
import type { FormObject } from '../http/form.ts';
import type { Provider } from '../provider.ts';

export interface PageCall {
  readonly provider: Provider;
  readonly control: Control;
  /** The parts of the path that vary. */
  readonly names: Record<string, string>;
  /** The fields of the form, or of the query. */
  readonly form: FormObject;
}
