import { expect, it } from 'vitest';
import { createAnonymousEntries } from '../../../admin/http/anonymous-entries.ts';

it('audit entries that anyone can cause: 60 a minute for each organisation, and the next one has the number of the omitted', () => {
  let now = 0;
  const entries = createAnonymousEntries({ elapsed: () => now });
  for (let count = 0; count < 60; count++) expect(entries.take('one')).toBe(0);
  for (let count = 0; count < 5; count++) expect(entries.take('one')).toBeNull();
  expect(entries.take('other')).toBe(0);
  now += 1_000;
  expect(entries.take('one')).toBe(5);
  expect(entries.take('one')).toBeNull();
  now += 1_000;
  expect(entries.take('one')).toBe(1);
});
