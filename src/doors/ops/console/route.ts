/** The routes of the operators' console, as a table. */
import type { FastifyRequest } from 'fastify';
import type { OperatorSession } from '../../../access/operators/operator-session.ts';
import { describeDevice } from '../../../access/sessions/device.ts';
import type { From } from '../../../access/sessions/session.ts';
import type { Form } from '../../http/form.ts';
import type { Answer } from '../../pages/answer.ts';
import type { PathParams, Route } from '../../pages/route.ts';
import type { OperatorDeps, OperatorDoor } from './operator-deps.ts';

/** A request, as pages see it. */
export interface OperatorCall {
  readonly deps: OperatorDeps;
  readonly door: OperatorDoor;
  readonly request: FastifyRequest;
  readonly path: string;
  readonly params: PathParams;
  readonly query: Form;
  readonly form: Form;
  /** The session of the browser, if it has one. */
  readonly session: OperatorSession | undefined;
}

export interface LoggedInCall extends OperatorCall {
  readonly session: OperatorSession;
}

export interface OpenRoute extends Route {
  readonly needs: 'nobody';
  handle(call: OperatorCall): Promise<Answer>;
}

export interface OperatorRoute extends Route {
  readonly needs: 'operator';
  /** The log-in must be recent. */
  readonly isDangerous?: boolean;
  handle(call: LoggedInCall): Promise<Answer>;
}

export type OpsRoute = OpenRoute | OperatorRoute;

/** The browser of a call, for a log-in. */
export function fromOf({ request, session }: OperatorCall): From {
  const device = describeDevice(request.headers['user-agent']);
  return { address: request.ip, device, before: session?.hash };
}
