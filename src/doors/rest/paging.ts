/** Lists that are read a page at a time: `?cursor=` of a request, `next_cursor` of an answer. */

import { isKeyId } from '../../access/keys/api-key.ts';
import { readPageToken, renderPageToken } from '../../base/lib/page-token.ts';
import { Type } from '../../base/lib/schema.ts';
import { noSuchPage } from '../http/no-such-page.ts';

export { noSuchPage };

export const CursorSchema = Type.Object({
  cursor: Type.Optional(
    Type.String({ description: '`next_cursor` of the page before; left out: the first page' }),
  ),
});

/** Part of an answer. Absent on the last page, so that a short list looks like one that has no pages. */
export const nextCursor = {
  next_cursor: Type.Optional(
    Type.String({ description: 'Only if there are more: `cursor` of the request for the next page' }),
  ),
};

/** What a page ends with: by default a key or credential. `undefined`: the first page. */
export function parseCursor(cursor: string | undefined, isId = isKeyId): string | undefined {
  if (cursor === undefined) return undefined;
  const [id = '', ...others] = readPageToken(cursor) ?? [];
  if (!isId(id) || others.length > 0) throw noSuchPage();
  return id;
}

export function renderCursor(end: string | undefined): { next_cursor?: string } {
  return end === undefined ? {} : { next_cursor: renderPageToken([end]) };
}
