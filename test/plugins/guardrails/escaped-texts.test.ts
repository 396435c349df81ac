import { describe, expect, it } from 'vitest';
import type { OperationName } from '../../../core/contract/provider/provider.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { withoutEscapes } from '../../../plugins/guardrails/json-escapes.ts';
import { type Scope, textParts } from '../../../plugins/guardrails/texts.ts';
import { toolTexts } from '../../../plugins/guardrails/tool-texts.ts';
import { withTexts } from '../../../plugins/guardrails/with-texts.ts';

/** JSON as Python's `json.dumps` writes it: a word in Cyrillic, a quote and a backslash. */
const escaped = '{"said": "\\u0441\\u0435\\u043a\\u0440\\u0435\\u0442 \\u0022 \\\\ \\\\u0441"}';
const read = '{"said": "секрет \\u0022 \\\\ \\\\u0441"}';

describe('escapes in JSON texts are read as characters:', () => {
  it.each<[string, OperationName | null, 'input' | 'output', JsonObject]>([
    ['the result of a tool', 'chatComplete', 'input', { messages: [{ role: 'tool', tool_call_id: 'c', content: escaped }] }],
    ['a part of content', 'chatComplete', 'input', { messages: [{ role: 'user', content: [{ type: 'text', text: escaped }] }] }],
    ['the result of a function', 'createModelResponse', 'input', { input: [{ type: 'function_call_output', output: escaped }] }],
    [
      'the result of a tool in Messages',
      'messages',
      'input',
      { messages: [{ role: 'user', content: [{ type: 'tool_result', content: escaped }] }] },
    ],
    ['a reply in JSON', 'chatComplete', 'output', { choices: [{ message: { content: escaped } }] }],
    ['a completion', 'complete', 'output', { choices: [{ text: escaped }] }],
    ['a body that passes through', null, 'input', { contents: [{ parts: [{ text: escaped }] }] }],
  ])('%s', (_name, operation, side, body) => {
    for (const scope of ['last_message', 'all_messages'] satisfies Scope[]) {
      const parts = textParts(operation, side, body, scope);
      expect(parts.map(({ text }) => text)).toContain(read);
      const same = parts.map(({ text }) => text);
      expect(withTexts(body, parts, same)).toEqual(body);
      const redacted = JSON.stringify(
        withTexts(
          body,
          parts,
          same.map((text) => text.replace('секрет', '***')),
        ),
      );
      expect(redacted).toContain(JSON.stringify(read.replace('секрет', '***')));
    }
  });

  it('the result of an MCP tool', () => {
    const parts = toolTexts({ content: [{ type: 'text', text: escaped }] }, 'output');
    expect(parts.map(({ text }) => text)).toContain(read);
  });

  it('slashes, which PHP escapes in JSON', () => {
    const body = { messages: [{ role: 'tool', content: '{"at":"https:\\/\\/a.example\\/b"}' }] };
    expect(textParts('chatComplete', 'input', body, 'last_message')[0]?.text).toBe('{"at":"https://a.example/b"}');
  });

  it('a text that is no JSON keeps its backslashes', () => {
    const body = { messages: [{ role: 'user', content: 'C:\\users\\u0041' }] };
    expect(textParts('chatComplete', 'input', body, 'last_message')[0]?.text).toBe('C:\\users\\u0041');
  });
});

it.each([
  ['\\u0041\\u00e9\\ud83d\\ude00', 'Aé😀'],
  ['\\u0022 \\u005c \\u000a \\u0085', '\\u0022 \\u005c \\u000a \\u0085'],
  ['\\\\u0041 \\\\\\u0041', '\\\\u0041 \\\\A'],
  ['\\/ \\n \\" \\x', '/ \\n \\" \\x'],
  ['\\u00 \\u00zz \\', '\\u00 \\u00zz \\'],
  ['a text', 'a text'],
])('%j is read as %j, which is the same JSON', (json, text) => {
  expect(withoutEscapes(json)).toBe(text);
});
