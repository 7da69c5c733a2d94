/** Routes of passkeys: those of a person, and logging in with one. What a browser answers is a field that has JSON. */
import {
  offerAdding,
  offerConfirming,
  offerLoggingIn,
  showPasskeys,
  submitPasskey,
  submitPasskeyConfirmation,
  submitPasskeyLogin,
  submitPasskeyRemoval,
} from './pages/passkeys.ts';
import type { ConsoleRoute } from './route.ts';

const isDangerous = true;

export const PASSKEY_ROUTES: readonly ConsoleRoute[] = [
  { method: 'GET', path: '/console/passkeys', needs: 'session', handle: showPasskeys },
  {
    method: 'POST',
    path: '/console/passkeys/options',
    needs: 'session',
    isDangerous,
    handle: offerAdding,
  },
  {
    method: 'POST',
    path: '/console/passkeys',
    needs: 'session',
    isDangerous,
    isTyped: true,
    fields: ['name', 'answer'],
    handle: submitPasskey,
  },
  {
    method: 'POST',
    path: '/console/passkeys/:id/remove',
    needs: 'session',
    isDangerous,
    handle: submitPasskeyRemoval,
  },
  { method: 'POST', path: '/console/passkeys/login/options', needs: 'nothing', handle: offerLoggingIn },
  {
    method: 'POST',
    path: '/console/passkeys/login',
    needs: 'nothing',
    fields: ['next', 'answer'],
    handle: submitPasskeyLogin,
  },
  { method: 'POST', path: '/console/passkeys/confirm/options', needs: 'session', handle: offerConfirming },
  {
    method: 'POST',
    path: '/console/passkeys/confirm',
    needs: 'session',
    fields: ['next', 'answer'],
    handle: submitPasskeyConfirmation,
  },
];
