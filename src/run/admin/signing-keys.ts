/** `admin signing-keys ...` */
import type { Command } from 'commander';
import { listSigningKeys } from '../../access/tokens/list-signing-keys.ts';
import {
  activateSigningKey,
  distrustSigningKey,
  removeSigningKey,
  replaceCompromisedKeys,
  rotateSigningKey,
} from '../../access/tokens/rotate-signing-keys.ts';
import type { SigningKeyRow } from '../../access/tokens/signing-key.ts';
import { SecretBox } from '../../base/lib/secret-box.ts';
import { findSecretsKey } from '../secrets-key.ts';
import { type JsonOption, withJson } from './arguments.ts';
import { type Connected, withDatabase } from './database.ts';
import { operator } from './operator.ts';
import { printJson, printLine, printTable } from './output.ts';

export function signingKeysCommands(program: Command): void {
  const keys = program.command('signing-keys').description('the keys that sign participant tokens');
  list(keys);
  rotate(keys);
  activate(keys);
  remove(keys);
  distrust(keys);
}

function list(keys: Command): void {
  withJson(keys.command('list').description('all keys there ever were, the newest first')).action(
    async ({ json }: JsonOption) => {
      await withDatabase(async (connected) => {
        const found = await listSigningKeys(connected);
        if (json) return printJson(found.map(keyJson));
        printTable(
          ['key', 'state', 'published', 'active since', 'remove at', 'removed'],
          found.map((key) => [
            key.kid,
            key.state,
            key.publishedAt,
            key.activatedAt,
            key.removeAt,
            key.removedAt,
          ]),
        );
      });
    },
  );
}

function keyJson(key: SigningKeyRow) {
  return {
    kid: key.kid,
    state: key.state,
    published_at: key.publishedAt,
    activated_at: key.activatedAt,
    remove_at: key.removeAt,
    removed_at: key.removedAt,
  };
}

function rotate(keys: Command): void {
  withJson(
    keys.command('rotate').description('publish a new key; it signs in an hour, when relays know it'),
  ).action(async ({ json }: JsonOption) => {
    await withDatabase(async (connected) => {
      const kid = await rotateSigningKey(connected.db, operator(), await openBox(connected));
      report(kid, 'pending', json);
    });
  });
}

function activate(keys: Command): void {
  withJson(
    keys.command('activate').description('let the pending key sign now rather than at the next minute'),
  )
    .option('--compromised', 'make a new key that signs at once, and remove every other one: its tokens die')
    .action(async ({ compromised = false, json }: { compromised?: boolean } & JsonOption) => {
      await withDatabase(async (connected) => {
        const kid = compromised
          ? await replaceCompromisedKeys(connected.db, operator(), await openBox(connected))
          : await activateSigningKey(connected.db, operator());
        report(kid, 'active', json);
      });
    });
}

function remove(keys: Command): void {
  withJson(keys.command('remove').description('remove a key that signs nothing any more, or nothing yet'))
    .argument('<kid>', 'the key; one that begins with a dash comes after --')
    .action(async (kid: string, { json }: JsonOption) => {
      await withDatabase(async ({ db }) => {
        await removeSigningKey(db, operator(), kid);
        report(kid, 'removed', json);
      });
    });
}

function distrust(keys: Command): void {
  withJson(
    keys
      .command('distrust')
      .description('verify no statement by a removed key any more, because an old backup with it was stolen'),
  )
    .argument('<kid>', 'the key; one that begins with a dash comes after --')
    .action(async (kid: string, { json }: JsonOption) => {
      await withDatabase(async ({ db }) => {
        await distrustSigningKey(db, operator(), kid);
        report(kid, 'distrusted', json);
      });
    });
}

async function openBox({ config }: Connected): Promise<SecretBox> {
  return new SecretBox(await findSecretsKey(config), config.secretsKeyFallback);
}

function report(kid: string, state: string, json: boolean | undefined): void {
  if (json) printJson({ kid, state });
  else printLine(`${kid} is ${state}`);
}
