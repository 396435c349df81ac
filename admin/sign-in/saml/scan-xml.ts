/**
 * Maximum number of elements of a message. The time to verify its signature grows with the square of them: 1,400 took 0.25 s, 2,400 took 0.6 s.
 * Messages of real providers have less than a hundred, and one more for each group of the user.
 */
export const messageElementsMax = 1_500;
/** Maximum number of elements of other documents. Metadata of AD FS has three elements for each claim, several times. */
const elementsMax = 20_000;
const attributesMax = 100;
/**
 * Maximum number of attributes for each element that a document may have. Values of attributes have up to three: a type and two namespaces.
 * 30,000 attributes in a response took a second.
 */
const attributesPerElement = 4;
const depthMax = 64;

const letters = String.raw`[\p{L}_][\p{L}\p{M}\p{N}._-]*`;
const space = '[ \\t\\r\\n]';
const tagStart = new RegExp(`<(/?)((?:${letters}:)?(${letters}))`, 'uy');
const attribute = new RegExp(
  `${space}+(?:${letters}:)?${letters}${space}*=${space}*(?:"(?<first>[^"<]*)"|'(?<second>[^'<]*)')`,
  'uy',
);
const tagEnd = new RegExp(`${space}*(/?)>`, 'uy');
/** Comments, CDATA and processing instructions, in metadata only. */
const aside = /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>/y;
const reference = /&(?:(?:lt|gt|amp|quot|apos)|#(?:(\d{1,7})|x([0-9A-Fa-f]{1,6})));/y;

/**
 * Returns the local names of the elements in order, or the reason for rejecting the document, as `{ reason }`. Accepts a strict subset of
 * XML: balanced tags, quoted attributes, references to allowed characters, and few elements. The XML libraries accept much more, and
 * their time grows with the square of what is wrong: 40 KB of opening tags occupy a process for 15 seconds, and anyone can send them.
 */
export function scanXml(xml: string, most: number = elementsMax): readonly string[] | { readonly reason: string } {
  if (/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(xml)) return { reason: 'a character that XML does not allow' };
  const names: string[] = [];
  const open: string[] = [];
  let attributes = 0;
  for (let at = 0; at < xml.length; ) {
    const next = xml.indexOf('<', at);
    const end = next === -1 ? xml.length : next;
    const text = xml.slice(at, end);
    if (open.length === 0 && /[^ \t\r\n\ufeff]/.test(text)) return { reason: 'text outside of the root element' };
    if (!areReferencesAllowed(text)) return { reason: 'an entity or a character that XML does not allow' };
    if (next === -1) break;
    const skipped = matchAt(aside, xml, next);
    if (skipped) {
      at = next + skipped[0].length;
      continue;
    }
    const tag = readTag(xml, next);
    if ('reason' in tag) return tag;
    at = tag.end;
    if (tag.closes) {
      if (open.pop() !== tag.qualified) return { reason: 'an element that is not closed' };
      continue;
    }
    attributes += tag.attributes;
    if (attributes > attributesPerElement * most) return { reason: `more than ${attributesPerElement * most} attributes` };
    if (open.length === 0 && names.length > 0) return { reason: 'several root elements' };
    if (names.push(tag.name) > most) return { reason: `more than ${most} elements` };
    if (tag.isEmpty) continue;
    if (open.push(tag.qualified) > depthMax) return { reason: `elements nested deeper than ${depthMax}` };
  }
  return open.length > 0 ? { reason: 'an element that is not closed' } : names;
}

interface Tag {
  readonly name: string;
  /** Name with its prefix. */
  readonly qualified: string;
  readonly closes: boolean;
  readonly isEmpty: boolean;
  readonly attributes: number;
  readonly end: number;
}

function readTag(xml: string, at: number): Tag | { readonly reason: string } {
  const start = matchAt(tagStart, xml, at);
  if (!start) return { reason: 'a name that is not accepted' };
  const [text, slash = '', qualified = '', name = ''] = start;
  let end = at + text.length;
  let attributes = 0;
  for (;;) {
    const found = matchAt(attribute, xml, end);
    if (!found) break;
    if (++attributes > attributesMax) return { reason: `an element with more than ${attributesMax} attributes` };
    if (!areReferencesAllowed(found.groups?.first ?? found.groups?.second ?? ''))
      return { reason: 'an entity or a character that XML does not allow' };
    end += found[0].length;
  }
  const closing = matchAt(tagEnd, xml, end);
  if (!closing) return { reason: 'a name that is not accepted' };
  return { name, qualified, closes: slash !== '', isEmpty: closing[1] !== '', attributes, end: end + closing[0].length };
}

/** Without a document type, only five entities exist. */
function areReferencesAllowed(text: string): boolean {
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) {
    const found = matchAt(reference, text, at);
    if (!found) return false;
    const [, decimal, hexadecimal] = found;
    if (decimal === undefined && hexadecimal === undefined) continue;
    const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
    const isAllowed = code >= 0x20 ? code < 0xd800 || (code > 0xdfff && code <= 0x10_ffff) : [9, 10, 13].includes(code);
    if (!isAllowed || code === 0xfffe || code === 0xffff) return false;
  }
  return true;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
