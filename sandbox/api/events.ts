/** `/v1/events`: lists all events, delivered or not. */
import { getRow } from '../actions/find.ts';
import { list as listOf, optional, text } from '../http/params.ts';
import { API_VERSION, type Event, renderEvent } from '../objects/event.ts';
import type { ApiRoute, Call } from './call.ts';
import { CREATED, listPage } from './list.ts';

export const eventRoutes: readonly ApiRoute[] = [
  { method: 'GET', path: '/v1/events', handle: list },
  { method: 'GET', path: '/v1/events/:id', handle: retrieve },
];

function retrieve({ provider, id }: Call) {
  return renderEvent(getRow(provider, 'events', id), provider.webhooks.pendingCount(id), API_VERSION);
}

function list({ provider, form }: Call) {
  return listPage(form, {
    url: '/v1/events',
    rows: provider.state.all('events'),
    filters: { ...CREATED, type: optional(text()), types: optional(listOf(text(), { max: 20 })) },
    keep: (event: Event, { type, types }) =>
      (type === undefined || matches(event.type, type)) &&
      (types === undefined || types.some((wanted) => matches(event.type, wanted))),
    render: (event) => renderEvent(event, provider.webhooks.pendingCount(event.id), API_VERSION),
  });
}

/** Stripe allows `charge.*`. */
function matches(type: string, wanted: string): boolean {
  return wanted.endsWith('*') ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
}
