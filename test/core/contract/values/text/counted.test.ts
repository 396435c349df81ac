import { describe, expect, it } from 'vitest';
import { counted } from '../../../../../core/contract/values/text/counted.ts';

describe('counted', () => {
  it.each([
    [0, 'image', undefined, '0 images'],
    [1, 'image', undefined, '1 image'],
    [2, 'image', undefined, '2 images'],
    [1, 'entry', 'entries', '1 entry'],
    [2, 'entry', 'entries', '2 entries'],
  ])('%i %s', (count, noun, plural, text) => {
    expect(counted(count, noun, plural)).toBe(text);
  });
});
