import { parseObject } from '../contract/values/json/json.ts';

/**
 * Recognises the end of a JSON object that arrives in pieces. Each piece is searched once, and the text is parsed once. Parsing all text
 * so far with each piece would take quadratic time: minutes for 1 MB of arguments in small pieces.
 */
export class WholeObject {
  text = '';
  #depth = 0;
  #inString = false;
  #escapes = false;
  #state: 'open' | 'ended' | 'whole' | 'broken' = 'open';

  push(piece: string): void {
    this.text += piece;
    for (let i = 0; i < piece.length && this.#state !== 'broken'; i++) this.#read(piece.charCodeAt(i));
  }

  /** True if the text so far is a JSON object. */
  isWhole(): boolean {
    if (this.#state === 'ended') this.#state = parseObject(this.text) !== null ? 'whole' : 'broken';
    return this.#state === 'whole';
  }

  #read(code: number): void {
    if (this.#inString) {
      if (this.#escapes) this.#escapes = false;
      else if (code === backslash) this.#escapes = true;
      else if (code === quote) this.#inString = false;
      return;
    }
    const isSpace = code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
    if (isSpace) return;
    if (this.#state !== 'open' || (this.#depth === 0 && code !== openBrace)) this.#state = 'broken';
    else if (code === quote) this.#inString = true;
    else if (code === openBrace || code === openBracket) this.#depth += 1;
    else if ((code === closeBrace || code === closeBracket) && --this.#depth === 0) this.#state = 'ended';
  }
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
