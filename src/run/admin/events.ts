/** `admin events ...` */
import type { Command } from 'commander';
import { type JsonOption, limitOption, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { printJson, printLine, printTable } from './output.ts';
import { listParkedEvents } from './overview.sql.ts';

export function eventsCommands(program: Command): void {
  const events = program.command('events').description('notifications of the payment provider');
  withJson(
    events.command('parked').description('notifications that nothing could be done about, with the reason'),
  )
    .addOption(limitOption(100))
    .action(async ({ limit, json }: { limit: number } & JsonOption) => {
      await withDatabase(async ({ db }) => {
        const parked = await listParkedEvents(db, limit);
        if (json) {
          return printJson(
            parked.map(({ id, type, reason, receivedAt }) => ({ id, type, reason, received_at: receivedAt })),
          );
        }
        if (parked.length === 0) return printLine('no parked notifications');
        printTable(
          ['notification', 'type', 'received', 'reason'],
          parked.map((each) => [each.id, each.type, each.receivedAt, each.reason]),
        );
      });
    });
}
