/** Finds the route of a request in a table of routes, and checks its form against it. */
import type { FastifyRequest } from 'fastify';
import { describeDevice } from '../../access/sessions/device.ts';
import type { From } from '../../access/sessions/session.ts';
import { Failure, invalidRequest } from '../../base/failure.ts';
import type { Form } from '../http/form.ts';

export interface Route {
  readonly method: 'GET' | 'POST';
  /** With `:name` for a segment that varies. */
  readonly path: string;
  /** The fields in the form of a POST. Any other field is refused. */
  readonly fields?: readonly string[];
  /** The request carries an API key and no cookie, so it may come from anywhere. Not where a session is needed. */
  readonly isForPrograms?: boolean;
}

/** What stands in a path in place of `:name`. */
export type PathParams = Readonly<Record<string, string>>;

/** A request, as the pages of both consoles see it. */
export interface PageCall {
  readonly request: FastifyRequest;
  readonly path: string;
  readonly params: PathParams;
  readonly query: Form;
  readonly form: Form;
}

type Known = { readonly hash: Buffer } | undefined;

/** The browser of a call, for a log-in. */
export function fromOf({
  request,
  session,
  closed,
}: PageCall & { readonly session: Known; readonly closed?: Known }): From {
  const device = describeDevice(request.headers['user-agent']);
  return { address: request.ip, device, before: (session ?? closed)?.hash };
}

/** Fails with `method_not_allowed`; `undefined`: there is no such path. */
export function findRoute<R extends Route>(
  routes: readonly R[],
  method: string,
  path: string,
): { readonly route: R; readonly params: PathParams } | undefined {
  const fitting = routes.flatMap((route) => {
    const params = matchPath(route.path, path);
    return params ? [{ route, params }] : [];
  });
  const found = fitting.find(({ route }) => route.method === method);
  if (!found && fitting.length > 0) throw new Failure('method_not_allowed');
  return found;
}

/** The parameters in `path`, if it fits `pattern`. */
function matchPath(pattern: string, path: string): PathParams | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, segment] of wanted.entries()) {
    if (segment.startsWith(':') && given[at] !== '') params[segment.slice(1)] = given[at]!;
    else if (segment !== given[at]) return undefined;
  }
  return params;
}

/** `/console/keys` of `/console/keys/`; `undefined`: the path has no slash too many. */
export function withoutSlash(path: string): string | undefined {
  return /^(\/console(?:\/[^/]+)*)\/$/.exec(path)?.[1];
}

/** Fails with `invalid_request`. */
export function refuseUnknownFields({ fields = [] }: Route, form: Form): void {
  for (const name of form.keys()) {
    if (!fields.includes(name)) throw invalidRequest(`${name.slice(0, 100)} is not a known field`);
  }
}
