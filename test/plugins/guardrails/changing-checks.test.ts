import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { routes, standaloneRoutes } from '../../../core/endpoints/routes.ts';
import { requestTypes } from '../../../plugins/guardrails/checks/allowed-request-types.ts';
import { chat, reply, run } from './run-check.ts';

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

describe('request types of allowedRequestTypes', () => {
  it('are those of all routes that guardrails run on', () => {
    // Guardrails run on a prompt completion after it has become a chat completion or completion, and on no route without routing.
    const standalone = [...standaloneRoutes.values()].filter(({ routing, isPrompt }) => routing !== 'none' && !isPrompt);
    const names = [...routes.map(({ operation }) => operation), ...standalone.map(({ name }) => name), 'proxy', 'mcp', 'agent'];
    expect([...requestTypes].sort()).toEqual([...new Set(names)].sort());
  });

  it.each([
    ['blockedTypes', ['chatCompletes'], 'unknown request type "chatCompletes"; did you mean chatComplete?'],
    ['allowedTypes', 'embed, chatcomplete', 'unknown request type "chatcomplete"; did you mean chatComplete?'],
    ['blockedTypes', ['stream-chatComplete'], 'unknown request type "stream-chatComplete"; did you mean chatComplete?'],
    ['blockedTypes', ['chat'], 'unknown request type "chat". Types are chatComplete, complete, embed, '],
  ])('%s %j is rejected', async (name, names, message) => {
    await expect(run('allowedRequestTypes', { [name]: names }, chat('x'))).rejects.toThrow(message);
  });
});
