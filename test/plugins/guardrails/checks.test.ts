import * as v from 'valibot';
import { afterAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json.ts';
import type { Subject } from '../../../plugins/guardrails/checks/check.ts';
import { checks } from '../../../plugins/guardrails/checks/index.ts';
import { textParts } from '../../../plugins/guardrails/texts.ts';
import { createGatewayTasks } from '../../../workers/gateway-tasks.ts';

const tasks = createGatewayTasks({ threads: 1, queueMax: 10, taskMs: 20_000, memoryMegabytes: 256, log: { warn: () => {} } });
afterAll(() => tasks.close());

const chat = (content: unknown, more: JsonObject = {}): JsonObject => ({
  model: 'm',
  messages: [{ role: 'user', content }],
  ...more,
});
const reply = (content: unknown): JsonObject => ({ choices: [{ index: 0, message: { role: 'assistant', content } }] });

async function run(name: string, parameters: JsonObject, body: JsonObject, metadata: Record<string, string> = {}) {
  const check = checks.get(`default.${name}`);
  if (!check) throw new Error(`no check ${name}`);
  const side = body.choices ? 'output' : 'input';
  expect(check.sides).toContain(side);
  const parts = textParts('chatComplete', side, body, 'last_message');
  const subject: Subject = {
    ctx: null as never,
    side,
    body,
    operation: 'chatComplete',
    requestType: 'chatComplete',
    model: typeof body.model === 'string' ? body.model : null,
    metadata,
    parts,
    text: parts.map(({ text }) => text).join('\n'),
  };
  return check.prepare(v.parse(check.parameters, parameters), { tasks, fetch: () => Promise.reject(new Error('no network')) })(
    subject,
  );
}

const fenced = 'See:\n```python\nprint(1)\n```\n';
const number = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
const tool = { tools: [{ type: 'function', function: { name: 'f', parameters: {} } }] };

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
    ['modelWhitelist', { models: ['m', 'n'] }, chat('x'), true, 'Model "m" is allowed.'],
    ['modelWhitelist', { models: ['n'] }, chat('x'), false, 'Model "m" is not in the allowed list.'],
    ['modelWhitelist', { models: ['n'], not: true }, chat('x'), true, 'Model "m" is not in the allowed list as expected.'],
    ['modelRules', { rules: { defaults: ['m'] } }, chat('x'), true, 'Model "m" is allowed by rules. (using default models)'],
    ['modelRules', { rules: { defaults: ['n'] } }, chat('x'), false, 'Model "m" is not allowed by rules.'],
    ['allowedRequestTypes', { allowedTypes: ['chatComplete'] }, chat('x'), true, 'Request type "chatComplete" is allowed.'],
    [
      'allowedRequestTypes',
      { allowedTypes: 'embed, complete' },
      chat('x'),
      false,
      'Request type "chatComplete" is not allowed. Allowed types are: embed, complete',
    ],
    ['allowedRequestTypes', { blockedTypes: ['chatComplete'] }, chat('x'), false, 'Request type "chatComplete" is blocked.'],
    ['allowedRequestTypes', {}, chat('x'), true, 'Request type "chatComplete" is allowed (no restrictions configured).'],
    ['requestParametersCheck', { tools: { allowedFunctionNames: ['f'] } }, chat('x', tool), true, 'All checks passed.'],
    [
      'requestParametersCheck',
      { tools: { blockedFunctionNames: ['f'] } },
      chat('x', tool),
      false,
      'Blocked tools: "f" (function name is blocked)',
    ],
    [
      'requestParametersCheck',
      { tools: { allowedTypes: ['web_search'] } },
      chat('x', tool),
      false,
      'Blocked tools: "f" (type is not in allowed list)',
    ],
    [
      'requestParametersCheck',
      { params: { blockedKeys: ['temperature'] } },
      chat('x', { temperature: 0.5 }),
      false,
      'Blocked params: "temperature"=0.5 (key is blocked)',
    ],
    [
      'requestParametersCheck',
      { params: { allowedKeys: ['model', 'messages'] } },
      chat('x', { temperature: 0.5, top_p: 1 }),
      false,
      'Blocked params: "temperature"=0.5 (key is not in allowed list); "top_p"=1 (key is not in allowed list)',
    ],
    [
      'requestParametersCheck',
      { params: { values: { temperature: { allowedValues: [0, 1] } } } },
      chat('x', { temperature: 0.5 }),
      false,
      'Blocked params: "temperature"=0.5 (value is not in allowed list)',
    ],
  ])('%s %j', async (name, parameters, body, verdict, explanation) => {
    const outcome = await run(name, parameters, body);
    expect([outcome.verdict, outcome.data?.explanation, outcome.error]).toEqual([verdict, explanation, undefined]);
  });

  it.each<[string, JsonObject, Record<string, string>, boolean, string]>([
    [
      'requiredMetadataKeys',
      { metadataKeys: ['team', 'env'] },
      { team: 'a', env: 'b' },
      true,
      "Check passed for 'all' metadata keys. All metadata keys were found.",
    ],
    [
      'requiredMetadataKeys',
      { metadataKeys: ['team', 'zz'] },
      { team: 'a' },
      false,
      "Check failed for 'all' metadata keys. Some metadata keys were missing.",
    ],
    [
      'requiredMetadataKeys',
      { metadataKeys: ['zz'], operator: 'any' },
      {},
      false,
      "Check failed for 'any' metadata keys. No metadata keys were found.",
    ],
    [
      'requiredMetadataKeys',
      { metadataKeys: ['team'], operator: 'none' },
      { team: 'a' },
      false,
      "Check failed for 'none' metadata keys. Some metadata keys were found.",
    ],
    [
      'requiredMetadataKeys',
      { metadataKeys: ['toString'] },
      {},
      false,
      "Check failed for 'all' metadata keys. Some metadata keys were missing.",
    ],
    [
      'requiredMetadataKeyPairs',
      { metadataPairs: { team: 'a' } },
      { team: 'a' },
      true,
      "Check passed for 'all' metadata keys. All metadata keys were found.",
    ],
    [
      'requiredMetadataKeyPairs',
      { metadataPairs: { team: ['a', 'b'] } },
      { team: 'c' },
      false,
      "Check failed for 'all' metadata keys. Some metadata keys were missing.",
    ],
    [
      'requiredMetadataKeyPairs',
      { metadataPairs: { team: 'red' }, matchType: 'contains' },
      { team: 'bored' },
      true,
      "Check passed for 'all' metadata keys. All metadata keys were found.",
    ],
    [
      'requiredMetadataKeyPairs',
      { metadataPairs: { team: ['r', 'x'] }, matchType: 'containsAll' },
      { team: 'r' },
      false,
      "Check failed for 'all' metadata keys. Some metadata keys were missing.",
    ],
    [
      'requiredMetadataKeyPairs',
      { metadataPairs: { team: '^a+$' }, matchType: 'regex' },
      { team: 'aaa' },
      true,
      "Check passed for 'all' metadata keys. All metadata keys were found.",
    ],
    [
      'modelRules',
      { rules: { defaults: ['x'], metadata: { team: { a: ['m'] } } } },
      { team: 'a' },
      true,
      'Model "m" is allowed by rules. (matched rules: team:a)',
    ],
    [
      'modelRules',
      { rules: { defaults: ['m'], metadata: { team: { a: ['x'] } } } },
      { team: 'a' },
      false,
      'Model "m" is not allowed by rules.',
    ],
    [
      'allowedRequestTypes',
      {},
      { supported_endpoints: 'embed,complete' },
      false,
      'Request type "chatComplete" is not allowed. Allowed types are: embed, complete',
    ],
    ['allowedRequestTypes', {}, { blocked_endpoints: 'chatComplete' }, false, 'Request type "chatComplete" is blocked.'],
  ])('%s %j with metadata %j', async (name, parameters, metadata, verdict, explanation) => {
    const outcome = await run(name, parameters, chat('x'), metadata);
    expect([outcome.verdict, outcome.data?.explanation]).toEqual([verdict, explanation]);
  });

  it.each<[string, JsonObject, JsonObject, string]>([
    ['regexMatch', { rule: 'x' }, reply(null), 'Missing text to match'],
    ['modelWhitelist', { models: ['m'] }, { messages: [] }, 'Missing model in request'],
  ])('%s cannot decide', async (name, parameters, body, message) => {
    expect(await run(name, parameters, body)).toMatchObject({ verdict: false, error: { name: 'Error', message } });
  });
});

describe('checks that change the body', () => {
  const system = { role: 'system', content: 'Be nice.' };
  it.each<[string, JsonObject, JsonObject, JsonObject | undefined]>([
    ['regexReplace', { rule: '\\d{4}', redactText: '[NUM]' }, chat('card 1234 5678'), chat('card [NUM] 5678')],
    ['regexReplace', { rule: '/\\d{4}/g' }, chat('card 1234 5678'), chat('card [REDACTED] [REDACTED]')],
    [
      'regexReplace',
      { rule: 'two', redactText: '2' },
      chat([
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ]),
      chat([
        { type: 'text', text: 'one' },
        { type: 'text', text: '2' },
      ]),
    ],
    ['regexReplace', { rule: 'secret', redactText: '***' }, reply('my secret'), reply('my ***')],
    ['regexReplace', { rule: 'zz' }, chat('a'), undefined],
    ['addPrefix', { prefix: 'PRE: ' }, chat('hello'), chat('PRE: hello')],
    [
      'addPrefix',
      { prefix: 'Be nice.', applyToRole: 'system' },
      chat('hi'),
      { model: 'm', messages: [system, { role: 'user', content: 'hi' }] },
    ],
    [
      'addPrefix',
      { prefix: 'PRE', addToExisting: false },
      chat('hi'),
      {
        model: 'm',
        messages: [
          { role: 'user', content: 'PRE' },
          { role: 'user', content: 'hi' },
        ],
      },
    ],
    [
      'addPrefix',
      { prefix: 'PRE ' },
      chat([
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ]),
      chat([
        { type: 'text', text: 'PRE a' },
        { type: 'text', text: 'b' },
      ]),
    ],
    [
      'addPrefix',
      { prefix: 'Sure:', applyToRole: 'assistant' },
      chat('hi'),
      {
        model: 'm',
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: 'Sure:' },
        ],
      },
    ],
    ['addPrefix', { prefix: 'PRE ' }, { model: 'm', prompt: 'once' }, { model: 'm', prompt: 'PRE once' }],
    ['addPrefix', { prefix: 'PRE', onlyIfEmpty: true }, chat('hi'), undefined],
  ])('%s %j', async (name, parameters, body, expected) => {
    const before = structuredClone(body);
    expect((await run(name, parameters, body)).body).toEqual(expected);
    expect(body).toEqual(before);
  });
});

describe('parameters that are rejected', () => {
  it.each<[string, JsonObject]>([
    ['contains', { words: [] }],
    ['contains', { words: ['a'], operator: 'some' }],
    ['containsCode', { format: 'Klingon' }],
    ['regexReplace', { rule: '/a/y' }],
    ['allowedRequestTypes', { allowedTypes: ['embed'], blockedTypes: ['embed'] }],
    ['requestParametersCheck', { params: { blockedKeys: ['a'], allowedKeys: ['a'] } }],
    ['requiredMetadataKeyPairs', { metadataPairs: { a: '(' }, matchType: 'regex' }],
    ['modelRules', { rules: {} }],
  ])('%s %j', async (name, parameters) => {
    await expect(run(name, parameters, name === 'containsCode' ? reply('x') : chat('x'))).rejects.toThrow();
  });
});
