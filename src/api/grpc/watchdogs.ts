/** `WatchdogService`. */
import { Failure } from '../../failure.ts';
import { WatchdogService } from '../../gen/boxoffice/control/v1/watchdog_service_pb.ts';
import { type Methods, query } from './methods.ts';

const { method } = WatchdogService;

export const watchdogMethods = {
  createWatchdog: query(method.createWatchdog, async () => {
    throw new Failure('method_not_allowed');
  }),
  getWatchdog: query(method.getWatchdog, async () => {
    throw new Failure('method_not_allowed');
  }),
  listWatchdogs: query(method.listWatchdogs, async () => {
    throw new Failure('method_not_allowed');
  }),
  updateWatchdog: query(method.updateWatchdog, async () => {
    throw new Failure('method_not_allowed');
  }),
  deleteWatchdog: query(method.deleteWatchdog, async () => {
    throw new Failure('method_not_allowed');
  }),
} satisfies Methods<typeof WatchdogService>;
