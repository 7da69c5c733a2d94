/** `WatchdogService`. */
import type { Watchdog as WireWatchdog } from '@boxoffice/contract/watchdog';
import { WatchdogService } from '@boxoffice/contract/watchdog_service';
import type { Duration, FieldMask } from '@bufbuild/protobuf/wkt';
import { invalidField } from '../../base/failure.ts';
import { createWatchdog } from '../../control/watchdogs/create-watchdog.ts';
import { deleteWatchdog } from '../../control/watchdogs/delete-watchdog.ts';
import { getWatchdog } from '../../control/watchdogs/get-watchdog.ts';
import { listWatchdogs } from '../../control/watchdogs/list-watchdogs.ts';
import { refuseImpossible } from '../../control/watchdogs/refuse-impossible.ts';
import { updateWatchdog, type WatchdogChange } from '../../control/watchdogs/update-watchdog.ts';
import {
  DURATION_MS_MAX,
  DURATION_MS_MIN,
  WATCHDOG_ACTIONS,
  WATCHDOG_CONDITIONS,
  type WatchdogAction,
  type WatchdogCondition,
  type WatchdogPosition,
  type WatchdogRule,
} from '../../control/watchdogs/watchdog.ts';
import {
  parseActor,
  parseDurationMs,
  parseId,
  parseMask,
  parseOptionalRoomName,
  parsePageSize,
  parseRoomName,
  parseToken,
  renderToken,
} from './fields.ts';
import { command, type Methods, query } from './methods.ts';
import { renderWatchdog, WATCHDOG_ACTIONS as WIRE_ACTIONS, WATCHDOG_CASES as WIRE_CASES } from './render.ts';

const { method } = WatchdogService;

export const watchdogMethods = {
  createWatchdog: command(
    method.createWatchdog,
    ({ watchdog, actor }) => {
      const wire = parseWatchdog(watchdog);
      return {
        room: parseRoomName(wire.room, 'watchdog.room'),
        rule: parseRule(wire),
        actor: parseActor(actor),
      };
    },
    async (tx, { caller }, wanted) => ({
      watchdog: renderWatchdog(await createWatchdog(tx, caller, wanted)),
    }),
  ),
  getWatchdog: query(method.getWatchdog, async ({ deps, tenant }, { id, actor }) => {
    const reference = { id: parseId(id, 'wd'), actor: parseActor(actor) };
    return { watchdog: renderWatchdog(await getWatchdog(deps.db, { tenant }, reference)) };
  }),
  listWatchdogs: query(method.listWatchdogs, async ({ deps, tenant }, request) => {
    const { watchdogs, end } = await listWatchdogs(deps.db, tenant, {
      room: parseOptionalRoomName(request.room),
      size: parsePageSize(request.pageSize),
      after: parsePosition(request.pageToken),
      actor: parseActor(request.actor),
    });
    return {
      watchdogs: watchdogs.map(renderWatchdog),
      nextPageToken: end ? renderToken([end.createdMicros, end.id]) : '',
    };
  }),
  updateWatchdog: command(
    method.updateWatchdog,
    ({ watchdog, updateMask, actor }) => {
      const wire = parseWatchdog(watchdog);
      return {
        id: parseId(wire.id, 'wd', 'watchdog.id'),
        change: parseChange(wire, updateMask),
        actor: parseActor(actor),
      };
    },
    async (tx, { tenant }, wanted) => ({
      watchdog: renderWatchdog(await updateWatchdog(tx, tenant, wanted)),
    }),
  ),
  deleteWatchdog: command(
    method.deleteWatchdog,
    ({ id, actor }) => ({ id: parseId(id, 'wd'), actor: parseActor(actor) }),
    async (tx, { caller }, reference) => {
      await deleteWatchdog(tx, caller, reference);
      return {};
    },
  ),
} satisfies Methods<typeof WatchdogService>;

function parseWatchdog(watchdog: WireWatchdog | undefined): WireWatchdog {
  if (!watchdog) throw invalidField('watchdog', 'is required');
  return watchdog;
}

function parseRule(wire: WireWatchdog): WatchdogRule {
  const condition = parseCondition(wire);
  if (!condition) throw invalidField('watchdog', `must have one of ${WATCHDOG_CONDITIONS.join(', ')}`);
  const rule = {
    ...condition,
    action: parseAction(wire),
    warnBeforeMs: parseWarnBefore(wire.warnBefore),
  };
  refuseImpossible(rule);
  return rule;
}

function parseCondition({
  condition,
}: WireWatchdog): Pick<WatchdogRule, 'condition' | 'durationMs'> | undefined {
  const kind = WATCHDOG_CONDITIONS.find((each) => WIRE_CASES[each] === condition.case);
  return kind && { condition: kind, durationMs: parseDuration(condition.value, kind) };
}

function parseDuration(duration: Duration | undefined, condition: WatchdogCondition): number {
  const limits = { min: DURATION_MS_MIN, max: DURATION_MS_MAX };
  return parseDurationMs(duration, `watchdog.${condition}`, limits)!;
}

function parseAction(wire: WireWatchdog): WatchdogAction {
  const action = WATCHDOG_ACTIONS.find((each) => WIRE_ACTIONS[each] === wire.action);
  if (!action) throw invalidField('watchdog.action', 'must be a known action');
  return action;
}

function parseWarnBefore(warnBefore: Duration | undefined): number {
  return parseDurationMs(warnBefore, 'watchdog.warn_before', { min: 0, max: DURATION_MS_MAX }) ?? 0;
}

/** Only the fields in the mask count. */
function parseChange(wire: WireWatchdog, mask: FieldMask | undefined): WatchdogChange {
  const paths = parseMask(mask, {
    of: 'watchdog',
    mutable: ['action', 'warn_before', ...WATCHDOG_CONDITIONS],
    immutable: [],
  });
  const conditions = WATCHDOG_CONDITIONS.filter((each) => paths.includes(each));
  const missing = conditions.find((each) => WIRE_CASES[each] !== wire.condition.case);
  if (missing) throw invalidField(`watchdog.${missing}`, 'is required, as update_mask names it');
  const condition = conditions.length > 0 ? parseCondition(wire) : undefined;
  return {
    ...(paths.includes('action') && { action: parseAction(wire) }),
    ...(paths.includes('warn_before') && { warnBeforeMs: parseWarnBefore(wire.warnBefore) }),
    ...(condition && { condition }),
  };
}

function parsePosition(token: string): WatchdogPosition | undefined {
  const parts = parseToken(token);
  if (!parts) return undefined;
  const [createdMicros = '', id = ''] = parts;
  if (parts.length !== 2 || !/^\d{1,16}$/.test(createdMicros)) {
    throw invalidField('page_token', 'must be one that an answer gave');
  }
  return { createdMicros, id: parseId(id, 'wd', 'page_token') };
}
