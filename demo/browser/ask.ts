/** Questions to the back end of the demo. */

/** From the address of a page that joins by a link; `undefined`: this is the host's. */
export const LINK = document.querySelector<HTMLElement>('main')!.dataset.link;

/** Fails with the reason in words. */
export async function ask<T>(name: string, body: object = {}): Promise<T> {
  const answer = await fetch(`/demo/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, link: LINK }),
    keepalive: true,
  });
  const given = await answer.json();
  if (!answer.ok) throw new Error(given.message);
  return given;
}
