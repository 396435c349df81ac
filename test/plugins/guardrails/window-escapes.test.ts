import { describe, expect, it } from 'vitest';
import { withoutEscapes } from '../../../plugins/guardrails/json-escapes.ts';
import type { WindowSearch } from '../../../plugins/guardrails/window/search.ts';
import { StreamWindow } from '../../../plugins/guardrails/window/stream-window.ts';
import { TextWindow } from '../../../plugins/guardrails/window/text-window.ts';

/** Finds a pattern of at most `reach` units. */
function searchOf(pattern: string, reach: number, replacement: string | null = null): WindowSearch {
  const find = (text: string, from: number) => {
    const expression = new RegExp(pattern, 'g');
    expression.lastIndex = from;
    const found = expression.exec(text);
    return found && { start: found.index, end: found.index + found[0].length, replacement };
  };
  return { reach, fails: replacement === null, isOnce: false, find };
}

/** Numbers that a seed determines. */
function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Sends a text in parts of random length. Returns the text that has left and the number of findings. */
function through(search: WindowSearch, text: string, next: (below: number) => number) {
  let findings = 0;
  const window = new TextWindow(search, true, () => findings++);
  let sent = '';
  for (let at = 0; at < text.length; ) {
    const end = at + next(9);
    sent += window.push(text.slice(at, end), false);
    at = end;
  }
  return { sent: sent + window.push('', true), findings };
}

const pieces = [
  ...['a', 'b', 'c', ' ', 'x', '\\u0061', '\\u0062', '\\u0063', '\\u0020', '\\n', '\\"', '\\/', '\\\\', '\\\\u0061'],
  ...['\\u005c', '\\u000a', '\\u00', '\\ud83d\\ude00', '😀'],
];
const texts = process.env.LONG_TESTS ? 20_000 : 2_000;

describe('JSON in a window', () => {
  it.each([
    ['abc', 3],
    ['\\babc\\b', 4],
    ['/a', 2],
    ['😀a', 3],
  ])('%s is found and replaced in any spelling, however the text is cut, and nothing else changes', (pattern, reach) => {
    let found = 0;
    for (let seed = 0; seed < texts; seed++) {
      const next = numbers(seed * 7919 + 1);
      const text = Array.from({ length: next(30) }, () => pieces[next(pieces.length)]).join('');
      const plain = withoutEscapes(text);
      const { sent, findings } = through(searchOf(pattern, reach, '[X]'), text, next);
      expect({ seed, text, sent: withoutEscapes(sent) }).toEqual({
        seed,
        text,
        sent: plain.replace(new RegExp(pattern, 'g'), '[X]'),
      });
      if (findings === 0) expect(sent).toBe(text);
      found += findings;
    }
    expect(found).toBeGreaterThan(texts / 500);
  });

  it('an escape counts as one unit of what is held back', () => {
    const window = new TextWindow(searchOf('forbidden', 9), true, () => undefined);
    const text = '\\u0061'.repeat(1000);
    expect(window.push(text, false)).toBe('\\u0061'.repeat(991));
  });
});

const chunk = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;

/** Sends deltas of a chat through a check that denies `forbidden`. Returns the texts that have left, and null if they are denied. */
function send(...deltas: readonly string[]): string | null {
  const check = { guardrail: { deny: true }, at: 0, check: { id: 'x' }, search: searchOf('forbidden', 9), findings: 0 };
  const window = new StreamWindow('chat', [check as never], () => ({
    reply: { status: 446, headers: [], body: '' },
    lastEvents: null,
  }));
  try {
    const sent = [...deltas.map((content) => window.write(Buffer.from(chunk(content)))), window.end()];
    const frames = Buffer.concat(sent).toString().split('\n\n').filter(Boolean);
    return frames.map((frame) => JSON.parse(frame.slice(6)).choices[0].delta.content).join('');
  } catch {
    return null;
  }
}

describe('a stream in a window', () => {
  it.each([
    ['in one event', ['{"a":"f\\u006frbidden"}']],
    ['cut in an escape', ['{"a":"f\\u00', '6frbidden"}']],
    ['behind white space', ['\n', ' ', '{"a":"f\\u006frbidden"}']],
    ['behind much white space', [' '.repeat(5000), '{"a":"f\\u006frbidden"}']],
    ['in a list', ['["f\\u006frbidden"]']],
  ])('a denied word in escapes of JSON %s is denied', (_name, deltas) => {
    expect(send(...deltas)).toBeNull();
    expect(send(...deltas.map((delta) => delta.replace('6f', '61')))).toBe(deltas.join('').replace('6f', '61'));
  });

  it('escapes in prose are sent as they are, and white space too', () => {
    expect(send('Write f\\u006f', 'rbidden')).toBe('Write f\\u006frbidden');
    expect(send(' ', '\n')).toBe(' \n');
    expect(send('"')).toBe('"');
  });
});
