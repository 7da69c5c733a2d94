/** Admissions for tests that skip the checks of a join or a mint. */
import { isDistributed } from '../../src/base/db/distribution.ts';
import type { Tx } from '../../src/base/db/pool.ts';
import {
  type Admission,
  type NewAdmission,
  type Renewal,
  renewAdmission,
} from '../../src/control/admission/admissions.sql.ts';
import { renewInSteps } from '../../src/control/admission/admit-in-steps.sql.ts';

type Given = Pick<NewAdmission, 'tenant' | 'roomUid' | 'username'> & Partial<NewAdmission>;

/** As left by the mint of an audience token, unless `given` differs. */
export function newAdmission(given: Given): NewAdmission {
  return {
    skeleton: given.username,
    thumbprint: `device of ${given.username}`,
    role: 'audience',
    rank: 20,
    capabilities: [],
    mayLower: true,
    keyId: '0123456789abcdef',
    lifetimeSeconds: 600,
    ...given,
  };
}

/** Renew in a transaction, as `renewAlone()` does in one of its own. */
export function renewIn(tx: Tx, renewal: Renewal): Promise<Admission | undefined> {
  return isDistributed() ? renewInSteps(tx, renewal) : renewAdmission(tx, renewal);
}
