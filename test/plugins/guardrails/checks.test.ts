import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { checks } from '../../../plugins/guardrails/checks/index.ts';
import { checkOf } from '../../../plugins/guardrails/compile.ts';
import { chat, fenced, number, reply, run } from './run-check.ts';

describe('verdict and explanation of each check', () => {
  it.each<[string, JsonObject, JsonObject, boolean, string]>([
    ['regexMatch', { rule: '^hel' }, chat('hello'), true, "The regex pattern '^hel' successfully matched the text."],
    ['regexMatch', { rule: '^bye' }, chat('hello'), false, "The regex pattern '^bye' did not match the text."],
    [
      'regexMatch',
      { rule: '^bye', not: true },
      chat('hello'),
      true,
      "The regex pattern '^bye' did not match the text as expected.",
    ],
    [
      'regexMatch',
      { rule: 'hello', not: true },
      chat('hello'),
      false,
      "The regex pattern 'hello' matched the text when it should not have.",
    ],
    [
      'regexMatch',
      { rule: '^a\\nb$' },
      chat([
        { type: 'text', text: 'a' },
        { type: 'image_url', image_url: { url: 'x' } },
        { type: 'text', text: 'b' },
      ]),
      true,
      "The regex pattern '^a\\nb$' successfully matched the text.",
    ],
    ['regexReplace', { rule: 'x' }, chat('hello'), true, "The regex pattern 'x' did not match any text."],
    ['regexReplace', { rule: 'h', redactText: '*' }, chat('hello'), true, "Pattern 'h' matched and was replaced with '*'"],
    [
      'regexReplace',
      { rule: '/H/i', failOnDetection: true },
      chat('hello'),
      false,
      "Pattern '/H/i' matched and was replaced with '[REDACTED]'",
    ],
    [
      'sentenceCount',
      { minSentences: 1, maxSentences: 2 },
      chat('One. Two!'),
      true,
      'The sentence count (2) is within the specified range of 1 to 2.',
    ],
    [
      'sentenceCount',
      { minSentences: 3, maxSentences: 4 },
      chat('One. Two!'),
      false,
      'The sentence count (2) is outside the specified range of 3 to 4.',
    ],
    [
      'sentenceCount',
      { minSentences: 3, maxSentences: 4, not: true },
      chat('One. Two!'),
      true,
      'The sentence count (2) is outside the specified range of 3 to 4 as expected.',
    ],
    [
      'wordCount',
      { minWords: 1, maxWords: 5 },
      chat(' hello  world '),
      true,
      'The text contains 2 words, which is within the specified range of 1-5 words.',
    ],
    [
      'wordCount',
      { minWords: 5, maxWords: 9 },
      chat('hello world'),
      false,
      'The text contains 2 words, which is outside the specified range of 5-9 words.',
    ],
    [
      'wordCount',
      { minWords: 1, maxWords: 5, not: true },
      chat('hello world'),
      false,
      'The text contains 2 words, which is within the specified range of 1-5 words when it should not be.',
    ],
    ['wordCount', {}, chat('a'), true, 'The text contains 1 words, which is within the specified range of 0-99999 words.'],
    [
      'characterCount',
      { minCharacters: 1, maxCharacters: 20 },
      chat('hello world'),
      true,
      'The text contains 11 characters, which is within the specified range of 1-20 characters.',
    ],
    [
      'characterCount',
      { minCharacters: 1, maxCharacters: 5 },
      chat('hello world'),
      false,
      'The text contains 11 characters, which is outside the specified range of 1-5 characters.',
    ],
    [
      'characterCount',
      { minCharacters: 1, maxCharacters: 5, not: true },
      chat('hello world'),
      true,
      'The text contains 11 characters, which is outside the specified range of 1-5 characters as expected.',
    ],
    ['alluppercase', {}, chat('HELLO 1!'), true, 'All alphabetic characters in the text are uppercase.'],
    ['alluppercase', {}, chat('Hello'), false, 'The text contains lowercase characters.'],
    ['alluppercase', { not: true }, chat('Hello'), true, 'The text contains lowercase characters as expected.'],
    ['alluppercase', {}, chat('ß'), false, 'The text contains lowercase characters.'],
    ['alllowercase', {}, chat('hello world 1!'), true, 'All alphabetic characters in the text are lowercase.'],
    ['alllowercase', {}, chat('Hello'), false, 'The text contains uppercase characters.'],
    [
      'alllowercase',
      { not: true },
      chat('hello'),
      false,
      'All alphabetic characters in the text are lowercase when they should not be.',
    ],
    ['endsWith', { suffix: 'world' }, chat('hello world'), true, 'The text ends with "world".'],
    ['endsWith', { suffix: 'world' }, chat('hello world.'), true, 'The text ends with "world" (including trailing period).'],
    ['endsWith', { suffix: 'moon' }, chat('hello world'), false, 'The text does not end with "moon".'],
    ['endsWith', { suffix: 'moon', not: true }, chat('hello world'), true, 'The text does not end with "moon" as expected.'],
    ['contains', { words: ['hello', 'moon'] }, chat('hello'), true, "Check passed for 'any' words. At least one word was found."],
    [
      'contains',
      { words: ['sun', 'moon'], operator: 'any' },
      chat('hello'),
      false,
      "Check failed for 'any' words. No words were found.",
    ],
    [
      'contains',
      { words: ['hello', 'world'], operator: 'all' },
      chat('hello world'),
      true,
      "Check passed for 'all' words. All words were found.",
    ],
    [
      'contains',
      { words: ['hello', 'moon'], operator: 'all' },
      chat('hello'),
      false,
      "Check failed for 'all' words. Some words were missing.",
    ],
    [
      'contains',
      { words: ['hello', 'moon'], operator: 'none' },
      chat('hello'),
      false,
      "Check failed for 'none' words. Some words were found.",
    ],
    [
      'contains',
      { words: ['moon'], operator: 'none' },
      chat('hello'),
      true,
      "Check passed for 'none' words. No words were found.",
    ],
    ['contains', { words: ['Hello'] }, chat('hello'), false, "Check failed for 'any' words. No words were found."],
    ['containsCode', { format: 'Python' }, reply(fenced), true, 'Found code block(s) in Python format'],
    ['containsCode', { format: 'SQL' }, reply(fenced), false, 'No code blocks in SQL format found'],
    ['containsCode', { format: 'SQL' }, reply('no code'), false, 'No code blocks found in the text'],
    [
      'containsCode',
      { format: 'Shell', not: true },
      reply('```sh\nls\n```'),
      false,
      'Found code block(s) in Shell format when none were expected',
    ],
    ['jsonSchema', { schema: number }, reply('Here: {"a": 1}'), true, 'Successfully validated JSON against the provided schema.'],
    [
      'jsonSchema',
      { schema: number },
      reply('```json\n{"a": "x"}\n```'),
      false,
      'Failed to validate JSON against the provided schema.',
    ],
    ['jsonSchema', { schema: { type: 'object' } }, reply('none here'), false, 'No valid JSON found in the response.'],
    [
      'jsonSchema',
      { schema: { type: 'object', required: ['zz'] }, not: true },
      reply('{"a": 1}'),
      true,
      'Successfully validated JSON does not match the schema as expected.',
    ],
    [
      'jsonSchema',
      { schema: number },
      reply('A brace } in text, then {"a": 1, "b": "}"} and more'),
      true,
      'Successfully validated JSON against the provided schema.',
    ],
    ['jsonKeys', { keys: ['a', 'z'] }, reply('{"a": 1}'), true, 'Successfully found at least one required key. Found keys: [a].'],
    [
      'jsonKeys',
      { keys: ['y', 'z'], operator: 'any' },
      reply('{"a": 1}'),
      false,
      'Failed to find any required keys. Missing keys: [y, z].',
    ],
    [
      'jsonKeys',
      { keys: ['a', 'b'], operator: 'all' },
      reply('```json\n{"a": 1, "b": {"c": 2}}\n```'),
      true,
      'Successfully found all required keys. Found keys: [a, b].',
    ],
    [
      'jsonKeys',
      { keys: ['y'], operator: 'none' },
      reply('{"a": 1}'),
      true,
      'Successfully verified no required keys are present. Missing keys: [y].',
    ],
    [
      'jsonKeys',
      { keys: ['a'], operator: 'none' },
      reply('{"a": 1}'),
      false,
      'Found some keys that should not be present. Found keys: [a].',
    ],
    ['notNull', {}, reply('text'), true, 'Content exists and is not null.'],
    ['notNull', {}, reply(''), false, 'Content is null, undefined, or empty.'],
    ['notNull', { not: true }, reply('  '), true, 'Content is null, undefined, or empty.'],
    [
      'notNull',
      {},
      { choices: [{ message: { content: null, tool_calls: [{ id: 'c' }] } }] },
      true,
      'Skipped because the response calls tools.',
    ],
  ])('%s %j', async (name, parameters, body, verdict, explanation) => {
    const outcome = await run(name, parameters, body);
    expect([outcome.verdict, outcome.data?.explanation, outcome.error]).toEqual([verdict, explanation, undefined]);
  });

  it.each<[string, JsonObject, JsonObject, string]>([['regexMatch', { rule: 'x' }, reply(null), 'Missing text to match']])(
    '%s cannot decide',
    async (name, parameters, body, message) => {
      expect(await run(name, parameters, body)).toMatchObject({ verdict: false, error: { name: 'Error', message } });
    },
  );

  it('default.isAllLowerCase is another id of default.alllowercase', () => {
    expect(checkOf('default.isAllLowerCase', {} as never)).toBe(checks.get('default.alllowercase'));
  });
});
