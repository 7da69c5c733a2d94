/** Admissions for tests that skip the checks of a join or a mint. */
import type { NewAdmission } from '../../src/control/admission/admissions.sql.ts';

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
    customer: null,
    lifetimeSeconds: 600,
    ...given,
  };
}
