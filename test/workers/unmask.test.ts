import { describe, expect, it } from 'vitest';
import { unmask } from '../../workers/unmask.ts';

const invisible =
  /[\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\uffa0]|[\ufe00-\ufe0f]|[\u{e0000}-\u{e01ef}]/u;

/** Returns the text that is shown for a character outside of Latin-1. */
function shown(character: string): string {
  if (invisible.test(character)) return '';
  const folded = character.normalize('NFKC');
  return /^[\x20-\x7e]+$/.test(folded) ? folded : character;
}

describe('unmask', () => {
  // Planes 3 to 13 have no compatibility forms, and those above 14 are for private use.
  it('treats each character of Unicode by its compatibility form, in every script', () => {
    const different: string[] = [];
    for (let code = 0; code < 0xe1000; code++) {
      if (code === 0x30000) code = 0xe0000;
      const character = String.fromCodePoint(code);
      if (unmask(`→${character}`).text !== `→${shown(character)}`) different.push(code.toString(16));
    }
    expect(different).toEqual([]);
  });

  it('returns the index in the original of each character', () => {
    expect(unmask('a—b')).toEqual({ text: 'a—b', at: null });
    expect(unmask('a\u200b４漢㏂b\ufe0f')).toEqual({ text: 'a4漢a.m.b', at: Uint32Array.of(0, 2, 3, 4, 4, 4, 4, 5, 7) });
    expect(unmask('\u{e0041}x😀')).toEqual({ text: 'x😀', at: Uint32Array.of(2, 3, 4, 5) });
  });
});
