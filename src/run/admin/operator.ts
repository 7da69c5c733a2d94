/** The operator, in the audit trail. */
import { userInfo } from 'node:os';
import type { Actor } from '../../base/audit/actor.ts';
import { codeOf } from '../../base/lib/error-code.ts';

/** The login name, such as `ann`; behind `sudo`, both names: `ann as root`. */
export function operator(): Actor {
  const login = loginName();
  const { SUDO_USER: caller } = process.env;
  return { kind: 'operator', id: caller ? `${caller} as ${login}` : login };
}

/** In a container, the user may have no name; then it is the number, such as `uid 1000`. */
function loginName(): string {
  try {
    return userInfo().username;
  } catch (error) {
    if (codeOf(error) !== 'ERR_SYSTEM_ERROR') throw error;
    return `uid ${process.getuid?.()}`;
  }
}
