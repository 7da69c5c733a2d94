/** `admin events parked`: the same as `admin payments list-parked`. */
import type { Command } from 'commander';
import { type JsonOption, limitOption, withJson } from './arguments.ts';
import { printParked } from './payments.ts';

export function eventsCommands(program: Command): void {
  const events = program.command('events').description('another name of payments list-parked');
  withJson(events.command('parked').description('the same as: payments list-parked'))
    .addOption(limitOption(100))
    .action(({ limit, json }: { limit: number } & JsonOption) => printParked(limit, json));
}
