/** Throws `TypeError`, with the name of the option, for what is no address of a service. Paths are appended to it. */
export function checkUrl(name: string, value: string): void {
  checkTarget(name, value);
  const { username, password } = new URL(value);
  if (username || password || /[?#]/.test(value))
    throw new TypeError(`${name} must have no user, query or fragment`);
}

/** The same for an address that is used as it is, and may have a query. */
export function checkTarget(name: string, value: string): void {
  const isHttp = URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
  if (!isHttp) throw new TypeError(`${name} must begin with http:// or https://`);
}
