/** The routes of the console, as a table: who may use each, and which fields its form has. */
import type { FastifyRequest } from 'fastify';
import type { Ability } from '../../access/members/member.ts';
import { describeDevice } from '../../access/sessions/device.ts';
import type { From, Session } from '../../access/sessions/session.ts';
import type { Deps } from '../deps.ts';
import type { Form } from '../http/form.ts';
import type { Answer } from '../pages/answer.ts';
import type { PathParams, Route } from '../pages/route.ts';
import type { RouteQueue } from '../queue-of-route.ts';

/** A request, as pages see it. */
export interface Call {
  readonly deps: Deps;
  /** Aborted when the service stops. */
  readonly closing: AbortSignal;
  readonly request: FastifyRequest;
  /** The address of the client. */
  readonly address: string;
  readonly path: string;
  readonly params: PathParams;
  readonly query: Form;
  readonly form: Form;
  /** The session of the browser, if it has one. */
  readonly session: Session | undefined;
  /** The session of the browser, if its tenant is suspended or archived. Only what `worksIn` such a status is open to it. */
  readonly closed: Session | undefined;
}

export interface SessionCall extends Call {
  readonly session: Session;
}

export interface PublicRoute extends Route {
  readonly needs: 'nobody';
  /** The request carries an API key and no cookie, so it may come from anywhere. */
  readonly isForPrograms?: boolean;
  handle(call: Call): Promise<Answer>;
}

export type ClosedStatus = 'suspended' | 'archived';

export interface GuardedRoute extends Route {
  readonly queue?: RouteQueue;
  /** `session`: any member. */
  readonly needs: Ability | 'session';
  /** The log-in must be recent. */
  readonly isDangerous?: boolean;
  /** Further statuses of the tenant in which it works. In all of them, every other route shows why it does not. */
  readonly worksIn?: readonly ClosedStatus[];
  handle(call: SessionCall): Promise<Answer>;
}

export type ConsoleRoute = PublicRoute | GuardedRoute;

/** The browser of a call, for a log-in. */
export function fromOf({ address, request, session, closed }: Call): From {
  const device = describeDevice(request.headers['user-agent']);
  return { address, device, before: (session ?? closed)?.hash };
}
