import { parseObject } from '../../contract/values/json/json.ts';
import { endsWithHalf } from '../../contract/values/text/surrogates.ts';

/** Reads the input of a custom tool from the arguments of a function, piece by piece. */
export interface InputReader {
  /** Returns the text that a further piece of the arguments adds to the input. */
  push(piece: string): string;
  /** Returns the rest, at the end of the arguments. */
  end(): string;
}

/** Start of the arguments, and the positions in it before which JSON allows white space. */
const opening = '{"input":"';
const spaceBefore: ReadonlySet<number> = new Set([0, 1, 8, 9]);

/**
 * Reads arguments `{"input": "…"}`. The text of the property is decoded as it arrives, at any split. Invalid escapes stay as they are.
 * Other objects are held until their end, because `input` may follow other properties. All other arguments are the input themselves.
 */
export function inputReader(): InputReader {
  let state: 'opening' | 'text' | 'closed' | 'held' | 'plain' = 'opening';
  /** Characters of `opening` that were read. */
  let step = 0;
  /** Arguments that were not decoded yet. */
  let kept = '';
  /** First half of a surrogate pair. A piece must not end with it, because it has no UTF-8. */
  let half = '';

  const open = (piece: string): string => {
    kept += piece;
    let at = 0;
    for (; at < piece.length && step < opening.length; at++) {
      const char = piece.charAt(at);
      if (char === opening[step]) step++;
      else if (!spaceBefore.has(step) || !isSpace(char)) {
        state = step === 0 ? 'plain' : 'held';
        return state === 'held' ? '' : takeKept();
      }
    }
    if (step < opening.length) return '';
    state = 'text';
    kept = '';
    return decode(piece.slice(at));
  };
  const takeKept = (): string => {
    const text = kept;
    kept = '';
    return text;
  };
  const decode = (piece: string): string => {
    const text = takeKept() + piece;
    let decoded = '';
    for (let at = 0; at < text.length; ) {
      const end = nextSpecial(text, at);
      decoded += text.slice(at, end);
      if (end === text.length) break;
      if (text[end] === '"') {
        state = 'closed';
        break;
      }
      const length = text[end + 1] === 'u' ? 6 : 2;
      if (end + length > text.length) {
        kept = text.slice(end);
        break;
      }
      decoded += unescaped(text.slice(end, end + length));
      at = end + length;
    }
    return decoded;
  };
  const read = (piece: string): string => {
    switch (state) {
      case 'opening':
        return open(piece);
      case 'text':
        return decode(piece);
      case 'held':
        kept += piece;
        return '';
      case 'plain':
        return piece;
      default:
        return '';
    }
  };

  return {
    push(piece) {
      const text = half + read(piece);
      const isHalf = endsWithHalf(text, text.length);
      half = isHalf ? text.slice(-1) : '';
      return isHalf ? text.slice(0, -1) : text;
    },
    end() {
      const text = half + (state === 'text' ? '' : state === 'held' ? inputIn(kept) : kept);
      [half, kept, state] = ['', '', 'closed'];
      return text;
    },
  };
}

/** Returns the input in whole arguments. It equals the pieces of a reader, joined. */
export function inputOf(text: string): string {
  const reader = inputReader();
  return reader.push(text) + reader.end();
}

function inputIn(text: string): string {
  const input = parseObject(text)?.input;
  return typeof input === 'string' ? input : text;
}

/** Returns the position of the next quotation mark or backslash; the length of the text if there is none. */
function nextSpecial(text: string, from: number): number {
  special.lastIndex = from;
  return special.exec(text)?.index ?? text.length;
}

const special = /["\\]/g;

function unescaped(sequence: string): string {
  try {
    return JSON.parse(`"${sequence}"`) as string;
  } catch {
    return sequence;
  }
}

function isSpace(char: string): boolean {
  return char === ' ' || char === '\n' || char === '\r' || char === '\t';
}
