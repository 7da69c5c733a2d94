/** Where a log-in leads. */
import { authenticateSession } from '../../access/sessions/authenticate-session.ts';
import { type Redirect, redirect } from '../consoles/answer.ts';
import { parseNext } from '../consoles/fields.ts';
import type { Deps } from '../deps.ts';

const START = '/console';
/** The pages of money are closed to moderators. */
const START_OF_MODERATORS = '/console/rooms';

/** Begins the session with this secret, at the page that the person asked for. */
export async function enter(deps: Deps, next: string | undefined, secret: string): Promise<Redirect> {
  const to = parseNext(next);
  const session = to === START ? await authenticateSession(deps, secret) : undefined;
  return redirect(session?.role === 'moderator' ? START_OF_MODERATORS : to, { secret });
}
