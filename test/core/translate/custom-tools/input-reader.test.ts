import { describe, expect, it } from 'vitest';
import { inputOf, inputReader } from '../../../../core/translate/custom-tools/input-reader.ts';

/** Inputs as the JSON that models write: escapes, surrogate pairs, JSON inside of JSON, patches. */
const inputs = [
  '',
  'a',
  '*** Begin Patch\n*** Update File: a.ts\n-const a = "\\n";\n+const a = \'\\t\';\n*** End Patch\n',
  '"quoted" \\ back\\\\slash / \b\f\n\r\t',
  '{"input":"inner"}',
  'é 漢字 😀😀 \u{1f468}\u{200d}\u{1f469} \u0000\u001f\u2028',
  '\\u0041 is no escape',
];

/** The same object in the spellings of JSON: short, with white space, and with every character escaped. */
const spellings = (input: string): string[] => [
  JSON.stringify({ input }),
  ` {\n\t"input" : ${JSON.stringify(input)}\r\n}\n`,
  `{"input":"${[...Array(input.length).keys()].map((at) => `\\u${input.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"}`,
];

function read(pieces: readonly string[]): string[] {
  const reader = inputReader();
  return [...pieces.map((piece) => reader.push(piece)), reader.end()];
}

/** Pieces at pseudo-random splits, the same in each run. */
function split(text: string, seed: number): string[] {
  const pieces: string[] = [];
  let [at, state] = [0, seed];
  while (at < text.length) {
    state = (state * 1103515245 + 12345) % 2147483648;
    const length = state % 7;
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

const cases = inputs.flatMap((input) => spellings(input).map((text): [string, string] => [text, input]));

describe('input of a custom tool', () => {
  it.each(cases)('is read from %j', (text, input) => {
    expect(JSON.parse(text)).toEqual({ input });
    expect(inputOf(text)).toBe(input);
  });

  it.each(cases)('is the same at every split of %j, in pieces of whole characters', (text, input) => {
    const everySplit = Array.from({ length: text.length + 1 }, (_, at) => [text.slice(0, at), text.slice(at)]);
    const random = Array.from({ length: 50 }, (_, seed) => split(text, seed + 1));
    for (const pieces of [...everySplit, ...random, text.split('')]) {
      const texts = read(pieces);
      expect(texts.join('')).toBe(input);
      for (const piece of texts) expect(Buffer.from(piece).toString()).toBe(piece);
    }
  });

  it('arrives while the arguments are written', () => {
    expect(read(['{"inp', 'ut": "ab', 'c\\', 'n\\ud83d', '\\ude0', '0d', '"', '}'])).toEqual([
      ...['', 'ab', 'c', '\n', '', '😀d', '', '', ''],
    ]);
  });

  it.each([
    ['plain text', 'plain text'],
    ['  two spaces', '  two spaces'],
    ['"a text"', '"a text"'],
    ['[1]', '[1]'],
    ['{}', '{}'],
    ['', ''],
    [' ', ' '],
    ['{"inp', '{"inp'],
    ['{"input":5}', '{"input":5}'],
    ['{"input":null}', '{"input":null}'],
    ['{"inputs":"a"}', '{"inputs":"a"}'],
    ['{"patch":"a"}', '{"patch":"a"}'],
    ['{ not json', '{ not json'],
    // The object with another spelling of its only property, or with one that the schema does not have.
    ['{"\\u0069nput":"a"}', 'a'],
    ['{"note":"b","input":"a"}', 'a'],
    ['{"input":"a","note":"b"}', 'a'],
    // Cut by a limit of tokens, or with a character that JSON does not allow.
    ['{"input":"ab', 'ab'],
    ['{"input":"ab\\', 'ab'],
    ['{"input":"ab\\u00', 'ab'],
    ['{"input":"a\nb"}', 'a\nb'],
    ['{"input":"a\\xb"}', 'a\\xb'],
    ['{"input":"a\\u12g4b"}', 'a\\u12g4b'],
  ])('in the arguments %j is %j, whole and at every split', (text, input) => {
    expect(inputOf(text)).toBe(input);
    for (let at = 0; at <= text.length; at++) expect(read([text.slice(0, at), text.slice(at)]).join('')).toBe(input);
    expect(read(text.split('')).join('')).toBe(input);
  });

  it('keeps halves of a surrogate pair together, and a half without its other half', () => {
    expect(read(['x\ud83d', '\ude00y'])).toEqual(['x', '😀y', '']);
    expect(read(['{"input":"x\ud83d', '\ude00y"}'])).toEqual(['x', '😀y', '']);
    expect(read(['{"input":"x\\ud83d', 'y"}'])).toEqual(['x', '\ud83dy', '']);
    expect(read(['{"input":"x\\ud83d"}'])).toEqual(['x', '\ud83d']);
  });

  it('takes time in proportion to the length of its pieces', () => {
    const reader = inputReader();
    let length = 0;
    for (let i = 0; i < 200_000; i++) length += reader.push(' ').length;
    length += reader.push('{"input":"').length;
    for (let i = 0; i < 200_000; i++) length += reader.push('a').length;
    expect(length + reader.end().length).toBe(200_000);
    const lines = 'line\n'.repeat(200_000);
    expect(inputOf(JSON.stringify({ input: lines }))).toBe(lines);
  });
});
