/** The routes of the operators' console, as a table. */
import type { ReadKind } from '../../../access/operators/note-read.ts';
import type { OperatorSession } from '../../../access/operators/operator-session.ts';
import type { Answer } from '../../consoles/answer.ts';
import type { PageCall, Route } from '../../consoles/route.ts';
import type { OperatorDeps, OperatorDoor } from './operator-deps.ts';

/** A request, as pages see it. */
export interface OperatorCall extends PageCall {
  readonly deps: OperatorDeps;
  readonly door: OperatorDoor;
  /** The session of the browser, if it has one. */
  readonly session: OperatorSession | undefined;
}

export interface LoggedInCall extends OperatorCall {
  readonly session: OperatorSession;
}

export interface PublicRoute extends Route {
  readonly isForPrograms?: never;
  readonly needs: 'nothing';
  handle(call: OperatorCall): Promise<Answer>;
}

export interface OperatorRoute extends Route {
  readonly isForPrograms?: never;
  readonly needs: 'operator';
  /** The log-in must be recent. */
  readonly isDangerous?: boolean;
  /** What the page shows of the tenant in the path. The tenant's audit trail says who read it. */
  readonly reads?: ReadKind;
  handle(call: LoggedInCall): Promise<Answer>;
}

export type OpsRoute = PublicRoute | OperatorRoute;
