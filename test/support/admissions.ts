/** Admissions for tests that skip the checks of a join or a mint. */

import pg from 'pg';
import { isDistributed } from '../../src/base/db/distribution.ts';
import type { Pool, Tx } from '../../src/base/db/pool.ts';
import type { NewAdmission } from '../../src/control/admission/admissions.sql.ts';
import { renewAdmission } from '../../src/control/admission/admissions.sql.ts';
import { enterAlone, enterIn, renewAlone } from '../../src/control/admission/admit-alone.ts';
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

/** Admit a user, as the service does it on this database. */
export function admitUser(db: Pool | Tx, admission: NewAdmission) {
  return db instanceof pg.Pool ? enterAlone(db, admission) : enterIn(db, admission);
}

/** Renew an admission, as the service does it on this database. */
export function renewUser(db: Pool | Tx, renewal: Parameters<typeof renewAlone>[1]) {
  if (db instanceof pg.Pool) return renewAlone(db, renewal);
  return isDistributed() ? renewInSteps(db, renewal) : renewAdmission(db, renewal);
}
