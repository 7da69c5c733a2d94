/** Throws `TypeError`, with the name of the option, for what is no address of a service. */
export function checkUrl(name: string, value: string): void {
  const isHttp = URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
  if (!isHttp) throw new TypeError(`${name} must begin with http:// or https://`);
}
