import type { Scans } from '../../core/contract/plugin/services/worker-tasks.ts';

/** Reads a whole text once, and returns what the scan looks for. */
export default function scanText<Name extends keyof Scans>({ scan, text }: { scan: Name; text: string }): Scans[Name] {
  return scans[scan](text);
}

const scans: { readonly [Name in keyof Scans]: (text: string) => Scans[Name] } = {
  sentences(text) {
    let count = 0;
    for (const _match of text.matchAll(/[.!?]/g)) count++;
    return count;
  },
  words: countWords,
  'has-lower-case': (text) => /\p{Ll}/u.test(text),
  'has-upper-case': (text) => /\p{Lu}/u.test(text),
  'code-languages': (text) => [
    ...new Set(
      Array.from(text.matchAll(/^[ \t]*```[ \t]*([^\s`]+)/gm), ([, word]) => (word as string).slice(0, languageCharsMax)),
    ),
  ],
  urls: (text) => [...new Set(text.match(/https?:\/\/[^\s<>"'`)\]}]+/g)?.map((url) => withoutPunctuation(url)) ?? [])],
  json: findJson,
};

const languageCharsMax = 64;

/** Returns the text without the punctuation at its end. An expression would search from each mark, in quadratic time. */
function withoutPunctuation(text: string): string {
  let end = text.length;
  while ('.,;:!?'.includes(text.charAt(end - 1)) && end > 0) end--;
  return text.slice(0, end);
}

/** Counts without a list of all words, which would take 30 ms for 1 MB. */
function countWords(text: string): number {
  let count = 0;
  let isInWord = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const isSpace = code < 0x80 ? code === 0x20 || (code >= 9 && code <= 13) : /\s/.test(text[i] as string);
    if (!isSpace && !isInWord) count++;
    isInWord = !isSpace;
  }
  return count;
}

/** Returns the JSON of a text: of its code blocks first, then of the text from its first brace. Null if there is none. */
function findJson(text: string): unknown {
  for (const block of codeBlocks(text)) {
    const value = parse(block);
    if (value !== null) return value;
  }
  const start = text.indexOf('{');
  if (start < 0) return null;
  const end = endOfObject(text, start);
  return end < 0 ? null : parse(text.slice(start, end));
}

/** Yields the texts between fences. An expression would search for the end of the text from each fence, in quadratic time. */
function* codeBlocks(text: string): Generator<string> {
  for (let open = text.indexOf(fence); open >= 0; ) {
    const line = text.indexOf('\n', open + fence.length);
    const close = line < 0 ? -1 : text.indexOf(fence, line + 1);
    if (close < 0) return;
    yield text.slice(line + 1, close);
    open = text.indexOf(fence, close + fence.length);
  }
}

const fence = '```';

/** Returns the index behind the brace that closes the one at `start`; -1 if none does. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let isInString = false;
  for (let i = start; i < text.length; i++) {
    const character = text[i];
    if (isInString) {
      if (character === '\\') i++;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return i + 1;
  }
  return -1;
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
