/** Cursors that name whose list they are of, a tenant or a webhook, so that one of another list is refused. */
import { readPageToken, renderPageToken } from '../../base/lib/page-token.ts';
import { noSuchPage } from './no-such-page.ts';

export function renderOwnCursor(owner: string, place: readonly string[]): string {
  return renderPageToken([owner, ...place]);
}

/** The place where the next page begins. Fails with `invalid_request` if it is in no list of `owner`. */
export function readOwnCursor(cursor: string, owner: string): readonly string[] {
  const [of, ...place] = readPageToken(cursor) ?? [];
  if (of !== owner) throw noSuchPage();
  return place;
}
