/** Routes of log-ins with the issuer. They stand before those of links, which would take `oidc` for a link. */
import { CALLBACK_PATH } from '../../access/oidc/oidc-config.ts';
import { finishIssuerLogin, submitIssuerConfirm, submitIssuerLogin } from './pages/member-oidc.ts';
import type { ConsoleRoute } from './route.ts';

export const OIDC_ROUTES: readonly ConsoleRoute[] = [
  {
    method: 'POST',
    path: '/console/login/oidc',
    needs: 'nothing',
    fields: ['next'],
    handle: submitIssuerLogin,
  },
  { method: 'GET', path: CALLBACK_PATH, needs: 'nothing', handle: finishIssuerLogin },
  {
    method: 'POST',
    path: '/console/confirm/oidc',
    needs: 'session',
    fields: ['next'],
    handle: submitIssuerConfirm,
  },
];
