/** What makes a form take effect once, though the browser sends it twice. */
import { type Rights, rightsOf } from '../../access/rights/key-ceiling.ts';
import type { Session } from '../../access/sessions/session.ts';
import type { Tx } from '../../base/db/pool.ts';
import { type Mutation, once } from '../../base/idempotency/once.ts';
import { parseFormId } from '../consoles/fields.ts';
import type { SessionCall } from './route.ts';

/** The change that a form asks for, by the id that `formId()` gave it. Fails with `invalid_request`. */
export function mutationOf({ session, form, path }: SessionCall): Mutation {
  return {
    tenant: session.tenant,
    key: `console-${parseFormId(form)}`,
    method: `POST ${path}`,
    ...rightsOfSession(session),
    request: Buffer.from(JSON.stringify([...form])),
  };
}

/** A form of one person is none of another one, and none of a key beyond its ceiling. */
function rightsOfSession({ member, ceiling, operator, isTrusted }: Session): Rights {
  if (ceiling) return rightsOf({ ceiling, isTrusted });
  return { rights: member ? `member ${member.id}` : `operator ${operator}` };
}

/**
 * Run `work` once for each form that was shown: a form that is sent twice creates one key, and shows it again.
 * The result is kept sealed for a day, as answers of the REST interface are.
 */
export async function onceForForm<T>(call: SessionCall, work: (tx: Tx) => Promise<T>): Promise<T> {
  const { deps, session } = call;
  const answer = await once(deps, mutationOf(call), async (tx) =>
    Buffer.from(JSON.stringify(await work(tx))),
  );
  deps.events.wake(session.tenant);
  return JSON.parse(Buffer.from(answer).toString()) as T;
}
