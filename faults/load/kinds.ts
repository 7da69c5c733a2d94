/** All kinds of load. */
import { budgets } from './budgets.ts';
import { crowd } from './crowd.ts';
import { followers } from './followers.ts';
import { joins } from './joins.ts';
import { keys } from './keys.ts';
import type { Kind } from './kind.ts';
import { newcomers } from './newcomers.ts';
import { payments } from './payments.ts';
import { rooms } from './rooms.ts';
import { sessions } from './sessions.ts';
import { settings } from './settings.ts';
import { usage } from './usage.ts';

export const KINDS: readonly Kind[] = [
  usage,
  keys,
  payments,
  rooms,
  joins,
  sessions,
  settings,
  budgets,
  newcomers,
  followers,
  crowd,
];
