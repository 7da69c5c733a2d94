/** Foreign text in mails: names of tenants, rooms and keys, and what a payment provider wrote. */

const LENGTH_MAX = 200;
/** Line breaks, other controls, and invisible characters, which could turn the direction of what follows. */
const UNWANTED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu;

/**
 * Text in which no mail program finds a link or an address: a space stands behind each dot, colon, slash and `@` inside
 * a word.
 */
export function withoutLinks(text: string): string {
  return text.replace(/[.:/@](?=\S)/g, '$& ');
}

/** One line without control characters, cut after `max` characters. */
export function cleanText(text: string, max = LENGTH_MAX): string {
  const line = text.replace(UNWANTED, ' ').replace(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length > max ? `${characters.slice(0, max - 1).join('')}…` : line;
}
