/** Pages while the list changes. */
import type { Json, Outcome } from '../driver.ts';
import type { Step } from '../step.ts';
import { thumbprintOf } from './devices.ts';

export const PAGES: readonly Step[] = [
  {
    name: 'pages while rooms are created: nothing twice, and nothing left out that was there',
    run: async (at) => {
      const { client, direct } = await at.house({ rooms: ['1', '2', '3', '4', '5'] });
      const pages = client.pages('rooms.list', { page_size: 2 });
      const sizes: number[] = [];
      const names: string[] = [];
      for (;;) {
        const { page, error } = await pages.next();
        if (error !== undefined) return { error };
        if (page === undefined) break;
        sizes.push(page.length);
        names.push(...page.map(({ name }: Json) => name));
        await direct.rooms.create({ room: `new-${sizes.length}` });
      }
      return { sizes, names };
    },
    expect: { sizes: [2, 2, 1], names: ['5', '4', '3', '2', '1'] },
  },
  {
    name: 'pages while participants come and go',
    run: async (at) => {
      const { client, direct } = await at.house({ rooms: ['lobby'] });
      const enter = (username: string) =>
        direct.tokens.mint({ room: 'lobby', username, deviceThumbprint: thumbprintOf(username) });
      for (const name of ['b', 'd', 'f']) await enter(name);
      const pages = client.pages('participants.list', { room: 'lobby', page_size: 1 });
      const names: string[] = [];
      for (;;) {
        const { page, error } = await pages.next();
        if (error !== undefined) return { error };
        if (page === undefined) return names;
        names.push(...page.map(({ username }: Json) => username));
        // One before the place, and one behind it.
        if (names.length === 1) await Promise.all(['a', 'e'].map(enter));
      }
    },
    expect: ['b', 'd', 'e', 'f'],
  },
  {
    name: 'pages of an empty list, and of a wrong place',
    run: async (at) => {
      const { client } = await at.house();
      return {
        empty: (await client.list('rooms.list')).ok?.length,
        wrong: await client.list('rooms.list', { page_token: '~' }),
        large: await client.list('rooms.list', { page_size: 501 }),
      };
    },
    expect: {
      empty: undefined,
      wrong: { error: { kind: 'Invalid', reason: 'INVALID_REQUEST', fields: ['page_token'] } },
      large: { error: { kind: 'Invalid', fields: ['page_size'] } },
    },
  },
  {
    name: 'pages of REST: of an empty list, and of a wrong place',
    run: async (at) => {
      const { client } = await at.house({ with: { credit: false } });
      const outcomes: Record<string, Outcome> = {};
      for (const method of ['billing.ledger', 'usage.records', 'usage.sessions', 'usage.conflicts']) {
        outcomes[`${method} empty`] = await client.list(method);
        outcomes[`${method} wrong`] = await client.list(method, { page_token: '~' });
        outcomes[`${method} large`] = await client.list(method, { page_size: 1001 });
      }
      return outcomes;
    },
    expect: Object.fromEntries(
      ['billing.ledger', 'usage.records', 'usage.sessions', 'usage.conflicts'].flatMap((method) => [
        [`${method} empty`, undefined],
        [`${method} wrong`, { error: { kind: 'Invalid', code: 400, message: /cursor/ } }],
        [`${method} large`, { error: { kind: 'Invalid', code: 400, message: /limit/ } }],
      ]),
    ),
  },
];
