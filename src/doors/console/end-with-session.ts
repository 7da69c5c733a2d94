/** Ends a download when its session is over, or its person lost the role: a large one takes as long as the browser likes. */
import type { Ability } from '../../access/rights/abilities.ts';
import { maySessionStill } from '../../access/sessions/authenticate-session.ts';
import { Failure } from '../../base/failure.ts';
import type { Answer } from '../consoles/answer.ts';
import type { SessionCall } from './route.ts';

/** How often the session is looked up while a download goes on. */
const LOOK_MS = 5_000;

/** `ability`: what the page needs; `undefined`: a session. */
export function endWithSession(
  answer: Answer,
  { deps, session }: Pick<SessionCall, 'deps' | 'session'>,
  ability: Ability | undefined,
): Answer {
  if (answer.kind !== 'download') return answer;
  const mayGoOn = () => maySessionStill(deps, session, ability);
  return { ...answer, chunks: sendWhile(mayGoOn, answer.chunks) };
}

/** Looked up after the read, so that nothing is sent that was read after the right was lost. */
async function* sendWhile<T>(mayGoOn: () => Promise<boolean>, chunks: AsyncIterable<T>): AsyncGenerator<T> {
  let lookedAt = performance.now();
  for await (const chunk of chunks) {
    if (performance.now() - lookedAt >= LOOK_MS) {
      // It breaks off, so that no browser takes the part for the whole.
      if (!(await mayGoOn())) throw new Failure('permission_denied');
      lookedAt = performance.now();
    }
    yield chunk;
  }
}
