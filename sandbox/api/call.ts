/** One API request as its handler sees it, and the handler's side of the route table. */
import type { FormObject } from '../http/form.ts';
import type { Route } from '../http/router.ts';
import type { Provider } from '../provider.ts';

export interface Call {
  readonly provider: Provider;
  /** The identifier in the path. */
  readonly id: string;
  /** The parameters of the query and the body, without `expand`. */
  readonly form: FormObject;
}

/** Returns the object to answer with; throws `ApiError`. */
export type Handler = (call: Call) => object;

export type ApiRoute = Route<Handler>;
