import { isEscaped } from './escaped-quote.ts';

interface Limits {
  /** Objects, lists, and members after the first one of each. */
  readonly valuesMax: number;
  readonly depthMax: number;
  /** The number of values that an object or list counts as. Absent: 1. */
  readonly containerValues?: number;
}

/**
 * Returns the limit that JSON text exceeds; null if none. Parsing takes time and memory for each value, and 8 MiB have millions of empty
 * objects. Malformed text is left to the parser.
 */
export function jsonExcess(text: string, { valuesMax, depthMax, containerValues = 1 }: Limits): 'values' | 'depth' | null {
  let values = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case doubleQuote:
        at = endOfString(text, at);
        break;
      case openingBrace:
      case openingBracket:
        if (++depth > depthMax) return 'depth';
        values += containerValues;
        if (values > valuesMax) return 'values';
        break;
      case closingBrace:
      case closingBracket:
        depth--;
        break;
      case comma:
        if (++values > valuesMax) return 'values';
        break;
    }
  }
  return null;
}

const doubleQuote = 34;
const comma = 44;
const openingBracket = 91;
const closingBracket = 93;
const openingBrace = 123;
const closingBrace = 125;

/** Returns the index of the quote that ends the string, or the length of the text. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}
