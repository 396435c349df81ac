import { describe, expect, it } from 'vitest';
import findWords from '../../../workers/tasks/find-words.ts';

const find = (words: string[], ...texts: string[]) => findWords({ texts, words, isNormalized: false });

describe('findWords', () => {
  it.each<[string[], string[], string[]]>([
    [['b', 'x', 'a'], ['abc'], ['b', 'a']],
    [['a.c', '$5', '(', '[x]', 'a|b', '\\d', '^', '{2}', 'x/y'], ['abc 5'], []],
    [
      ['a.c', '$5', '(', '[x]', 'a|b', '\\d', '^', '{2}', 'x/y'],
      ['a.c $5 ( [x] a|b \\d ^ {2} x/y'],
      ['a.c', '$5', '(', '[x]', 'a|b', '\\d', '^', '{2}', 'x/y'],
    ],
    [['a\nb'], ['a', 'b'], ['a\nb']],
    [['word'], ['WORD'], []],
    [['\ud83d'], ['😀'], ['\ud83d']],
    [['ä'], ['a\u0308'], []],
  ])('finds of %j in %j exactly %j', (words, texts, found) => {
    expect(find(words, ...texts)).toEqual(found);
  });

  it('finds the same words whether they are searched together or one by one', () => {
    const many = Array.from({ length: 33 }, (_, i) => `word${i} `);
    const text = many.filter((_, i) => i % 3 === 0).join('');
    expect(find(many.slice(0, 32), text)).toEqual(find(many, text).filter((word) => word !== 'word32 '));
  });
});
