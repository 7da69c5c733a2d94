/** The options of commands that read all usage of a period. */
import { type Command, Option } from 'commander';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { parseTenant, parseTime } from './arguments.ts';

/** More take many minutes, and gigabytes of temporary disk, which a mistyped date should not cost. */
const RECORDS_MAX = 50_000_000n;

const TIME = 'a day, such as 2026-11-01, which begins at 0:00 UTC, or a time, such as 2026-11-01T06:30:00Z';

export interface PeriodOptions {
  readonly from: Date;
  readonly to: Date;
  readonly tenant?: TenantId;
  readonly all?: boolean;
}

export function withPeriod(command: Command): Command {
  return command
    .addOption(required('--from <time>', `the start of the period: ${TIME}`))
    .addOption(required('--to <time>', 'the end, which is not part of it'))
    .addOption(new Option('--tenant <id>', 'only usage of this tenant').argParser(parseTenant))
    .option('--all', `even if the period has more than ${RECORDS_MAX} records`)
    .hook('preAction', (_, asked) => {
      const { from, to } = asked.opts<PeriodOptions>();
      if (from >= to) asked.error('error: --from must be before --to');
    });
}

function required(flags: string, description: string): Option {
  return new Option(flags, description).argParser(parseTime).makeOptionMandatory();
}

/** How many records the command reads at most, and what to do about more. */
export function recordsMaxOf({ all = false }: PeriodOptions) {
  return {
    recordsMax: all ? undefined : RECORDS_MAX,
    instead: 'choose a shorter one, one tenant, or --all',
  };
}
