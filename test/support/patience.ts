/** Waits of tests last as long as those of `expect.poll`: a busy machine is no fault, and only what fails is waited for so long. */
import { vi } from 'vitest';

const MS_MAX = 60_000;

const isPatient = Symbol.for('waits are patient');
const waits = vi as typeof vi & { [isPatient]?: true };

if (!waits[isPatient]) {
  const { waitFor, waitUntil } = vi;
  vi.waitFor = (callback, options = MS_MAX) => waitFor(callback, options);
  vi.waitUntil = (callback, options = MS_MAX) => waitUntil(callback, options);
  waits[isPatient] = true;
}
