/** Posts JSON with a key. Fails if the answer is no success. */
export async function post(url: string, key: string, body: unknown): Promise<unknown> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}
