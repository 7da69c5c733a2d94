/** All steps. */
import type { Step } from '../step.ts';
import { ACCOUNTS } from './accounts.ts';
import { ALERTS } from './alerts.ts';
import { BUDGETS } from './budgets.ts';
import { CHARGES } from './charges.ts';
import { KILLS } from './kills.ts';
import { LEAKS } from './leaks.ts';
import { LOST_ANSWERS } from './lost-answers.ts';
import { METHODS } from './methods.ts';
import { MISTAKES } from './mistakes.ts';
import { NETWORKS } from './networks.ts';
import { PAGES } from './pages.ts';
import { REFUSALS } from './refusals.ts';
import { RELAY } from './relay.ts';
import { STREAMS } from './streams.ts';
import { TIME_LIMITS } from './time-limits.ts';
import { VECTORS } from './vectors.ts';
import { WEBHOOKS } from './webhooks.ts';

export const STEPS: readonly Step[] = [
  ...METHODS,
  ...CHARGES,
  ...ACCOUNTS,
  ...ALERTS,
  ...BUDGETS,
  ...WEBHOOKS,
  ...REFUSALS,
  ...MISTAKES,
  ...LOST_ANSWERS,
  ...STREAMS,
  ...PAGES,
  ...TIME_LIMITS,
  ...NETWORKS,
  ...KILLS,
  ...VECTORS,
  ...RELAY,
  ...LEAKS,
];
