/** The routes of the console, as a table: who may use each, and which fields its form has. */
import type { Ability } from '../../access/rights/abilities.ts';
import type { Session } from '../../access/sessions/session.ts';
import type { Answer } from '../consoles/answer.ts';
import type { PageCall, Route } from '../consoles/route.ts';
import type { Deps } from '../deps.ts';
import type { RouteQueue } from '../queue-of-route.ts';

/** A request, as pages see it. */
export interface Call extends PageCall {
  readonly deps: Deps;
  /** Aborted when the service stops. */
  readonly closing: AbortSignal;
  /** The address of the client. */
  readonly address: string;
  /** The session of the browser, if it has one. */
  readonly session: Session | undefined;
  /** The session of the browser, if its tenant is suspended or archived. Only what `worksIn` such a status is open to it. */
  readonly closed: Session | undefined;
}

export interface SessionCall extends Call {
  readonly session: Session;
}

export interface PublicRoute extends Route {
  readonly needs: 'nothing';
  handle(call: Call): Promise<Answer>;
}

export type ClosedStatus = 'suspended' | 'archived';

export interface GuardedRoute extends Route {
  readonly isForPrograms?: never;
  readonly queue?: RouteQueue;
  /** `session`: any member. */
  readonly needs: Ability | 'session';
  /** The log-in must be recent. */
  readonly isDangerous?: boolean;
  /** The form has fields to type in, on the page of its path or of the section. */
  readonly isTyped?: boolean;
  /** Further statuses of the tenant in which it works. In all of them, every other route shows why it does not. */
  readonly worksIn?: readonly ClosedStatus[];
  handle(call: SessionCall): Promise<Answer>;
}

export type ConsoleRoute = PublicRoute | GuardedRoute;
