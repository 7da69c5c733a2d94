/** Routes of payments, of conflicts, of the ledger as a file, and of the export of everything. */
import { showConflicts } from './pages/conflicts.ts';
import { showExport, submitExport } from './pages/export.ts';
import { sendLedger } from './pages/ledger.ts';
import { openInvoice, openReceipt, sendPayments, showPayments, submitPortal } from './pages/payments.ts';
import { showPrices } from './pages/prices.ts';
import { sendRoomSessions, showRoomCost, showRoomSession, showRoomSessions } from './pages/room-sessions.ts';
import type { ConsoleRoute } from './route.ts';

export const MONEY_ROUTES: readonly ConsoleRoute[] = [
  { method: 'GET', path: '/console/prices', needs: 'nothing', handle: showPrices },
  { method: 'GET', path: '/console/ledger.csv', needs: 'see_money', queue: 'its own', handle: sendLedger },
  { method: 'GET', path: '/console/room-sessions', needs: 'see_money', handle: showRoomSessions },
  {
    method: 'GET',
    path: '/console/room-sessions.csv',
    needs: 'see_money',
    queue: 'its own',
    handle: sendRoomSessions,
  },
  { method: 'GET', path: '/console/room-sessions/:id', needs: 'see_money', handle: showRoomSession },
  {
    method: 'GET',
    path: '/console/room-cost/:uid',
    needs: 'see_money',
    queue: 'heavy reads',
    handle: showRoomCost,
  },
  { method: 'GET', path: '/console/conflicts', needs: 'see_money', handle: showConflicts },
  { method: 'GET', path: '/console/payments', needs: 'see_money', handle: showPayments },
  {
    method: 'GET',
    path: '/console/payments.csv',
    needs: 'see_money',
    queue: 'its own',
    handle: sendPayments,
  },
  {
    method: 'GET',
    path: '/console/payments/:id/receipt',
    needs: 'see_money',
    queue: 'provider calls',
    handle: openReceipt,
  },
  {
    method: 'GET',
    path: '/console/payments/:id/invoice',
    needs: 'see_money',
    queue: 'provider calls',
    handle: openInvoice,
  },
  {
    method: 'POST',
    path: '/console/payments/portal',
    needs: 'pay',
    // Cards are added and removed there.
    isDangerous: true,
    queue: 'provider calls',
    fields: ['form'],
    handle: submitPortal,
  },
  { method: 'GET', path: '/console/export', needs: 'export_data', handle: showExport },
  // A form, so that no link of another site begins an export.
  { method: 'POST', path: '/console/export', needs: 'export_data', isDangerous: true, handle: submitExport },
];
