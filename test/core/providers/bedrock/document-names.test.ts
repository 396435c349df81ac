import { expect, it } from 'vitest';
import { documentNames } from '../../../../core/providers/bedrock/converse/content-parts.ts';

it('documents of one name have numbers', () => {
  const name = documentNames();
  expect(['a.txt', 'a 2.txt', 'a.txt', 'a.txt', null, ''].map(name)).toEqual([
    'a',
    'a 2',
    'a 3',
    'a 4',
    'document',
    'document 2',
  ]);
});

it('200,000 documents of one name have numbers within the time of one test', () => {
  const name = documentNames();
  for (let i = 1; i < 200_000; i++) name('a.txt');
  expect(name('a.txt')).toBe('a 200000');
});
