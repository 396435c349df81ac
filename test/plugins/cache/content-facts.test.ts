import { describe, expect, it } from 'vitest';
import { contentFacts } from '../../../plugins/cache/content-facts.ts';

describe('the content-agreement gate', () => {
  it.each([
    ['a number', 'What is 15% of 80?', 'What is 15% of 90?'],
    ['a number as a word', 'List three rivers in Spain', 'List four rivers in Spain'],
    ['a negation', 'Is aspirin safe in pregnancy?', 'Is aspirin not safe in pregnancy?'],
    ['a contracted negation', 'Why does the light turn on?', "Why doesn't the light turn on?"],
    ['a negating prefix', 'Is the traffic encrypted?', 'Is the traffic unencrypted?'],
    ['a name', 'What is the capital of France?', 'What is the capital of Germany?'],
    ['a name at the beginning', 'Ada wrote what?', 'Grace wrote what?'],
    ['the order of names', 'Is Ada older than Grace?', 'Is Grace older than Ada?'],
    ['a reversing word', 'How do I enable logs?', 'How do I disable logs?'],
    ['a quoted text', 'Translate "good morning"', 'Translate "good night"'],
    ['a quoted text in other quotes', 'Translate «bon jour»', 'Translate «bon soir»'],
    ['code', 'What does `a + b` do?', 'What does `a - b` do?'],
    ['a code block', 'Explain ```x = 1```', 'Explain ```x = 2```'],
    ['an identifier', 'What is max_tokens?', 'What is min_tokens?'],
    ['a sign', 'Is x < y then?', 'Is x > y then?'],
    ['a text without capitals', '巴黎的天气', '伦敦的天气'],
    ['a unit on a number', 'Run 5km today', 'Run 5mi today'],
    ['a word hidden by a soft hyphen', 'Is it n\u00adot safe?', 'Is it safe?'],
    ['full-width digits', 'Add ３ eggs', 'Add 4 eggs'],
  ])('separates texts that differ in %s', (_what, one, other) => {
    expect(contentFacts(one)).not.toEqual(contentFacts(other));
  });

  it.each([
    ['What is the capital of France?', 'Please tell me: what is the capital of France'],
    ['How can one learn chess quickly?', 'What is a quick way of learning chess?'],
    ['Is 1,000 a large number?', 'is 1000 a large number'],
    ["Isn't water wet?", 'Is water not wet?'],
    ['What is Ada Lovelace known for?', "Explain what Ada Lovelace's fame is about"],
  ])('lets rewordings agree: %s', (one, other) => {
    expect(contentFacts(one)).toEqual(contentFacts(other));
  });

  it('takes linear time on unpaired quotes', () => {
    for (const hostile of ['“', '"', '`', "'", '«', '```', 'un', '−']) {
      expect(contentFacts(hostile.repeat(30_000)).length).toBeLessThan(100_000);
    }
  });
});
