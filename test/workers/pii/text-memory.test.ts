import { describe, expect, it, vi } from 'vitest';
import { piiCategories } from '../../../core/contract/plugin/guardrails/pii-categories.ts';
import { remembering } from '../../../workers/pii/text-memory.ts';
import findPii from '../../../workers/tasks/find-pii.ts';

const padding = 'Nothing in this line is about a person, and it is longer than a short text. ';
const wide = [...'4111111111111111'].map((digit) => String.fromCodePoint(digit.charCodeAt(0) + 0xfee0)).join('');

/** Conversations of which each repeats the texts before. */
const conversation = [
  `${padding}Write to anna.keller@example.org or +1 415 555 2671.`,
  `${padding}My name is Jane Miller, card 4111 1111 1111 1111, again anna.keller@example.org.`,
  `${padding}${wide} and ${[...'jane@example.com'].join('\u200b')}`,
  `${padding}${Buffer.from('mail me: a.b@example.com').toString('base64')}`,
  `${padding}Half of a pair \ud83d and bob@example.com`,
  `${padding}The address is split: jane@exam`,
  `ple.com. ${padding}`,
  padding,
  'a@b.co',
];

describe('remembered positions of personal data', () => {
  it.each([
    { redact: false, known: null },
    { redact: true, known: null },
    { redact: true, known: [] },
    { redact: true, known: [['{{EMAIL_ADDRESS_1}}', 'jane@example.com'] as const] },
  ])('give the same result as a search, with $redact and $known', (rules) => {
    for (const categories of [piiCategories, ['EMAIL_ADDRESS'] as const, ['CREDIT_CARD', 'NAME'] as const]) {
      for (let turn = 1; turn <= conversation.length; turn++) {
        const input = { texts: conversation.slice(0, turn), categories, ...rules };
        const searched = findPii(input);
        for (const owner of ['one', 'one', 'two']) expect(findPii({ ...input, owner })).toEqual(searched);
      }
    }
    expect(findPii({ texts: conversation, categories: piiCategories, ...rules }).kinds).toContain('EMAIL_ADDRESS');
  });

  it.each<[string, string, string, string]>([
    ['another text', padding, `${padding}!`, 'one'],
    ['another workspace', padding, padding, 'two'],
    ['a short text', 'short', 'short', 'one'],
    ['half of a surrogate pair, which has the bytes of U+FFFD', `${padding}\ufffd`, `${padding}\ud83d`, 'one'],
  ])('are not used for %s', (name, before, text, owner) => {
    const search = vi.fn(() => []);
    remembering(`${name} one`, ['NAME'], search)(before);
    remembering(`${name} ${owner}`, ['NAME'], search)(text);
    expect(search).toHaveBeenCalledTimes(2);
  });

  it('are used for the same text of the same workspace', () => {
    const search = vi.fn(() => [{ category: 'NAME' as const, start: 1, end: 2 }]);
    const found = [0, 1].map(() => remembering('same', ['NAME'], search)(padding));
    expect(found[1]).toEqual(found[0]);
    expect(search).toHaveBeenCalledTimes(1);
  });

  it('belong to the categories', () => {
    const search = vi.fn(() => []);
    for (const categories of [['NAME'], ['NAME', 'SSN'], ['SSN', 'NAME']] as const) remembering('w', categories, search)(padding);
    expect(search).toHaveBeenCalledTimes(3);
  });

  it('are not kept for a text with too many findings', () => {
    const search = vi.fn(() => Array.from({ length: 2_000 }, () => ({ category: 'NAME' as const, start: 0, end: 1 })));
    for (let round = 0; round < 2; round++) expect(remembering('many', ['NAME'], search)(padding)).toHaveLength(2_000);
    expect(search).toHaveBeenCalledTimes(2);
  });

  it('have a maximum size: the oldest are searched again', () => {
    const search = vi.fn(() => []);
    const find = remembering('size', ['NAME'], search);
    for (let at = 0; at < 20_000; at++) find(`${padding}${at}`);
    find(`${padding}19999`);
    expect(search).toHaveBeenCalledTimes(20_000);
    find(`${padding}0`);
    expect(search).toHaveBeenCalledTimes(20_001);
  });
});
