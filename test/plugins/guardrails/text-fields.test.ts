import { describe, expect, it } from 'vitest';
import type { OperationName } from '../../../core/contract/provider/provider.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { textParts } from '../../../plugins/guardrails/texts.ts';
import { withTexts } from '../../../plugins/guardrails/with-texts.ts';

/** A body of each format in which every field that can hold text holds `TEXT` and a number of its own. */
const bodies: readonly [operation: OperationName, side: 'input' | 'output', body: JsonObject][] = [
  [
    'chatComplete',
    'input',
    {
      model: 'm',
      messages: [
        { role: 'system', content: 'TEXT1' },
        { role: 'developer', content: [{ type: 'text', text: 'TEXT2' }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'TEXT3' },
            { type: 'image_url', image_url: { url: 'https://a.example' } },
          ],
        },
        {
          role: 'assistant',
          content: 'TEXT4',
          refusal: 'TEXT5',
          reasoning_content: 'TEXT6',
          tool_calls: [
            { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":"TEXT7"}' } },
            { id: 'd', type: 'custom', custom: { name: 'g', input: 'TEXT11' } },
          ],
        },
        { role: 'assistant', content: [{ type: 'refusal', refusal: 'TEXT8' }] },
        { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'TEXT9' }] },
        { role: 'user', content: 'TEXT10' },
      ],
    },
  ],
  ['complete', 'input', { prompt: ['TEXT1', 'TEXT2'], suffix: 'TEXT3' }],
  ['chatComplete', 'input', { messages: [], documents: [{ text: 'TEXT1' }], systemInstruction: { parts: [{ text: 'TEXT2' }] } }],
  ['embed', 'input', { input: ['TEXT1', 'TEXT2'] }],
  [
    'messages',
    'input',
    {
      system: [{ type: 'text', text: 'TEXT1' }],
      messages: [
        { role: 'user', content: 'TEXT2' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'TEXT3', signature: 's' },
            { type: 'text', text: 'TEXT4' },
            { type: 'tool_use', id: 't', name: 'f', input: { deep: ['TEXT5'] } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'TEXT6' }] },
            {
              type: 'document',
              title: 'TEXT7',
              context: 'TEXT8',
              source: { type: 'text', media_type: 'text/plain', data: 'TEXT9' },
            },
            { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'TEXT10' }] } },
            { type: 'text', text: 'TEXT11' },
          ],
        },
      ],
    },
  ],
  [
    'createModelResponse',
    'input',
    {
      instructions: 'TEXT1',
      input: [
        { role: 'user', content: 'TEXT2' },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'TEXT3' }] },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":"TEXT4"}' },
        { type: 'function_call_output', call_id: 'c', output: 'TEXT5' },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'TEXT6' }] },
        {
          type: 'message',
          role: 'assistant',
          content: [
            { type: 'output_text', text: 'TEXT7' },
            { type: 'refusal', refusal: 'TEXT8' },
          ],
        },
        { type: 'custom_tool_call', call_id: 'd', name: 'g', input: 'TEXT9' },
        { type: 'custom_tool_call_output', call_id: 'd', output: 'TEXT10' },
      ],
    },
  ],
  ['createSpeech', 'input', { input: 'TEXT1', instructions: 'TEXT2' }],
  ['createTranscription', 'input', { prompt: 'TEXT1' }],
  ['createTranslation', 'input', { prompt: 'TEXT1' }],
  ['imageGenerate', 'input', { prompt: 'TEXT1' }],
  ['imageEdit', 'input', { prompt: 'TEXT1' }],
  ['moderate', 'input', { input: [{ type: 'text', text: 'TEXT1' }, 'TEXT2'] }],
  ['rerank', 'input', { query: 'TEXT1', documents: ['TEXT2', { text: 'TEXT3' }, { data: 'TEXT4', text: 'TEXT5', TEXT6: 1 }] }],
  ['createDecision', 'input', { state: 'TEXT1', questions: { TEXT: { type: 'noul', instructions: 'TEXT2' } } }],
  ['createDecision', 'input', { state: { id: 'TEXT1', TEXT2: [{ url: 'TEXT3' }] } }],
  ['createDecision', 'input', { input: [{ role: 'user', content: 'TEXT1' }], questions: [{ name: 'q', instructions: 'TEXT2' }] }],
  [
    'chatComplete',
    'output',
    {
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'TEXT1',
            refusal: 'TEXT2',
            reasoning_content: 'TEXT3',
            tool_calls: [
              { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":"TEXT4"}' } },
              { id: 'd', type: 'custom', custom: { name: 'g', input: 'TEXT6' } },
            ],
          },
        },
        { index: 1, message: { role: 'assistant', content: [{ type: 'text', text: 'TEXT5' }] } },
      ],
    },
  ],
  ['complete', 'output', { choices: [{ text: 'TEXT1' }, { text: 'TEXT2' }] }],
  [
    'messages',
    'output',
    {
      content: [
        { type: 'thinking', thinking: 'TEXT1', signature: 's' },
        { type: 'text', text: 'TEXT2' },
        { type: 'tool_use', id: 't', name: 'f', input: { a: 'TEXT3' } },
      ],
    },
  ],
  [
    'createModelResponse',
    'output',
    {
      output: [
        { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 'TEXT1' }] },
        {
          type: 'message',
          id: 'm',
          role: 'assistant',
          content: [
            { type: 'output_text', text: 'TEXT2' },
            { type: 'refusal', refusal: 'TEXT3' },
          ],
        },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":"TEXT4"}' },
        { type: 'custom_tool_call', call_id: 'd', name: 'g', input: 'TEXT5' },
      ],
    },
  ],
  ['createTranscription', 'output', { text: 'TEXT1' }],
  [
    'ocr',
    'output',
    { pages: [{ index: 0, markdown: 'TEXT1', images: [{ id: 'i', image_annotation: 'TEXT2' }] }], document_annotation: 'TEXT3' },
  ],
];

describe('scope all_messages: every field with text reaches the checks', () => {
  it.each(bodies)('%s, %s', (operation, side, body) => {
    const read = textParts(operation, side, body, 'all_messages')
      .map(({ text }) => text)
      .join(' ');
    const fields = JSON.stringify(body).match(/TEXT\d+/g) ?? [];
    expect(fields.filter((field) => !new RegExp(`${field}(?!\\d)`).test(read))).toEqual([]);
  });
});

describe('scope last_message: every part of the last message with text reaches the checks', () => {
  const document = { type: 'document', title: 'TEXT1', context: 'TEXT2', source: { type: 'text', data: 'TEXT3' } };
  const blocks = { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'TEXT4' }] } };
  const result = { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'TEXT5' }] };
  const found = { type: 'search_result', source: 'TEXT1', title: 'TEXT2', content: [{ type: 'text', text: 'TEXT3' }] };
  it.each<[OperationName, JsonObject, number]>([
    ['chatComplete', { messages: [{ role: 'user', content: ['TEXT1', { type: 'text', text: 'TEXT2' }] }] }, 2],
    ['messages', { messages: [{ role: 'user', content: [document, blocks, result, { type: 'text', text: 'TEXT6' }] }] }, 6],
    [
      'createModelResponse',
      {
        input: [
          { type: 'function_call_output', output: 'TEXT1' },
          { type: 'custom_tool_call_output', output: 'TEXT2' },
          { role: 'user', content: 'TEXT3' },
        ],
      },
      3,
    ],
    ['messages', { messages: [{ role: 'user', content: [found] }] }, 3],
    ['chatComplete', { messages: [{ role: 'user', content: { text: 'TEXT1' } }] }, 1],
    [
      'createModelResponse',
      {
        input: [
          { type: 'shell_call_output', call_id: 'c', output: [{ stdout: 'TEXT1', stderr: 'TEXT2' }] },
          { type: 'local_shell_call_output', id: 'c', output: 'TEXT3' },
          { type: 'program_output', call_id: 'c', result: 'TEXT4' },
          { type: 'mcp_approval_response', approve: false, reason: 'TEXT5' },
          { type: 'image_generation_call', result: 'AAAA' },
        ],
      },
      5,
    ],
    ['createDecision', { state: ['TEXT1', { text: 'TEXT2' }], questions: { q: { instructions: 'not read' } } }, 2],
    ['createDecision', { input: 'TEXT1' }, 1],
    ['rerank', { query: 'TEXT1', documents: [{ text: 'TEXT2' }, { TEXT3: 'TEXT4' }] }, 4],
  ])('%s', (operation, body, count) => {
    const read = textParts(operation, 'input', body, 'last_message').map(({ text }) => text);
    expect(read).toEqual(Array.from({ length: count }, (_none, index) => `TEXT${index + 1}`));
  });
});

it('the input of a tool in Messages is read and changed whole: names, numbers, and members with names of other fields', () => {
  const input = { url: 'TEXT1', TEXT2: { id: 'TEXT3', n: 4111 } };
  const body = { content: [{ type: 'tool_use', id: 't', name: 'f', input }] };
  const parts = textParts('messages', 'output', body, 'all_messages');
  expect(parts.map(({ text }) => text)).toEqual(['f', 'url', 'TEXT1', 'TEXT2', 'id', 'TEXT3', 'n', '4111']);
  const texts = parts.map(({ text }) => text.replace(/TEXT\d|4111/, 'X'));
  expect(withTexts(body, parts, texts).content).toEqual([
    { type: 'tool_use', id: 't', name: 'f', input: { url: 'X', X: { id: 'X', n: 'X' } } },
  ]);
});

it('texts are replaced in linear time, and the body stays as it was', () => {
  const count = 30_000;
  const list = Array<string>(count).fill('a');
  const names = Object.fromEntries(list.map((_, index) => [`n${index}`, true]));
  const body = { messages: [{ content: [{ type: 'tool_use', input: { list, names } }] }] };
  const parts = textParts('messages', 'input', body, 'all_messages');
  const changed = withTexts(
    body,
    parts,
    parts.map(({ text }) => `${text}!`),
  );
  expect(JSON.stringify(changed).match(/"a!"/g)).toHaveLength(count);
  expect(JSON.stringify(changed)).toContain(`"n${count - 1}!":true`);
  expect(JSON.stringify(body)).not.toContain('!');
});
