/** The routes of the console, as a table: who may use each, and which fields its form has. */
import type { FastifyRequest } from 'fastify';
import type { Ability } from '../../access/members/member.ts';
import type { Session } from '../../access/sessions/session.ts';
import type { Deps } from '../deps.ts';
import type { Form } from '../http/form.ts';
import type { Page } from './layout.ts';

/** A request, as pages see it. */
export interface Call {
  readonly deps: Deps;
  readonly request: FastifyRequest;
  /** Of the client. */
  readonly address: string;
  readonly path: string;
  /** What stands in the path in place of `:name`. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Form;
  readonly form: Form;
  /** Of the browser, if it has one. */
  readonly session: Session | undefined;
}

export interface SessionCall extends Call {
  readonly session: Session;
}

export type Answer =
  | { readonly kind: 'page'; readonly page: Page; readonly status?: number; readonly cookie?: Cookie }
  | { readonly kind: 'redirect'; readonly to: string; readonly cookie?: Cookie }
  | {
      readonly kind: 'file';
      readonly type: string;
      readonly body: string;
      /** The browser saves it under this name. */
      readonly saveAs?: string;
    }
  | { readonly kind: 'json'; readonly status: number; readonly body: object }
  /** A page that was made elsewhere, with its own policy. */
  | { readonly kind: 'document'; readonly html: string; readonly policy: string };

/** The secret of a new session; `null`: the session is over. */
export type Cookie = { readonly secret: string | null };

interface RouteBase {
  readonly method: 'GET' | 'POST';
  /** With `:name` for a segment that varies. */
  readonly path: string;
  /** Of the form of a POST. Any other field is refused. */
  readonly fields?: readonly string[];
}

export interface PublicRoute extends RouteBase {
  readonly needs: 'nobody';
  /** The request carries an API key and no cookie, so it may come from anywhere. */
  readonly isForPrograms?: boolean;
  handle(call: Call): Promise<Answer>;
}

export interface GuardedRoute extends RouteBase {
  /** `session`: any member. */
  readonly needs: Ability | 'session';
  /** The log-in must be recent. */
  readonly isDangerous?: boolean;
  readonly callsProvider?: boolean;
  handle(call: SessionCall): Promise<Answer>;
}

export type ConsoleRoute = PublicRoute | GuardedRoute;

/** The parameters in `path`, if it fits `pattern`. */
export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, segment] of wanted.entries()) {
    if (segment.startsWith(':') && given[at] !== '') params[segment.slice(1)] = given[at]!;
    else if (segment !== given[at]) return undefined;
  }
  return params;
}

export function page(shown: Page, status = 200): Answer {
  return { kind: 'page', page: shown, status };
}

export function redirect(to: string, cookie?: Cookie): Answer {
  return { kind: 'redirect', to, ...(cookie && { cookie }) };
}
