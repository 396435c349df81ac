import { expect, test } from 'vitest';
import { toolTexts } from '../../../plugins/guardrails/tool-texts.ts';

test('tool texts: arguments with names and numbers, each with its path', () => {
  const body = { name: 'weather', arguments: { city: 'Aarhus', days: [1, ''], more: { a: true } } };
  expect(toolTexts(body, 'input')).toEqual([
    { text: 'city', path: ['arguments', 'city'], kind: 'name' },
    { text: 'Aarhus', path: ['arguments', 'city'] },
    { text: 'days', path: ['arguments', 'days'], kind: 'name' },
    { text: '1', path: ['arguments', 'days', 0], kind: 'number' },
    { text: 'more', path: ['arguments', 'more'], kind: 'name' },
    { text: 'a', path: ['arguments', 'more', 'a'], kind: 'name' },
  ]);
});

test('tool texts: results without encoded data, with names of structured content only', () => {
  const body = {
    content: [
      { type: 'text', text: 'mild' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    ],
    structuredContent: { wind: 'west' },
  };
  expect(toolTexts(body, 'output')).toEqual([
    { text: 'text', path: ['content', 0, 'type'] },
    { text: 'mild', path: ['content', 0, 'text'] },
    { text: 'image', path: ['content', 1, 'type'] },
    { text: 'image/png', path: ['content', 1, 'mimeType'] },
    { text: 'wind', path: ['structuredContent', 'wind'], kind: 'name' },
    { text: 'west', path: ['structuredContent', 'wind'] },
  ]);
});

test.each([
  ['of an elicitation', { requestedSchema: { type: 'object', properties: { secret: { type: 'string' } } } }],
  ['of a tool in a sampling', { tools: [{ name: 'f', inputSchema: { type: 'object', properties: { secret: {} } } }] }],
])('tool texts: the names in the schema %s are read', (_, params) => {
  const names = toolTexts({ method: 'x', params }, 'output').filter(({ kind }) => kind === 'name');
  expect(names.map(({ text }) => text)).toEqual(['secret']);
});

test('tool texts: deep values and members named __proto__ are refused', () => {
  let deep: unknown = 'end';
  for (let level = 0; level < 210; level++) deep = [deep];
  expect(() => toolTexts({ arguments: deep }, 'input')).toThrow('200 levels');
  expect(() => toolTexts({ arguments: JSON.parse('{"__proto__":1}') }, 'input')).toThrow('__proto__');
});

test('tool texts: names that begin like one of the protocol are read, in arguments and in metadata', () => {
  const ofServer = { 'io.modelcontextprotocol/secret': 1 };
  const parts = toolTexts({ arguments: ofServer, inputResponses: { reply: { _meta: ofServer } } }, 'input');
  expect(parts).toEqual([
    { text: 'io.modelcontextprotocol/secret', path: ['arguments', 'io.modelcontextprotocol/secret'], kind: 'name' },
    { text: '1', path: ['arguments', 'io.modelcontextprotocol/secret'], kind: 'number' },
    {
      text: 'io.modelcontextprotocol/secret',
      path: ['inputResponses', 'reply', '_meta', 'io.modelcontextprotocol/secret'],
      kind: 'name',
    },
    { text: '1', path: ['inputResponses', 'reply', '_meta', 'io.modelcontextprotocol/secret'], kind: 'number' },
  ]);
  const [, number] = toolTexts({ arguments: { progressToken: 1 } }, 'input');
  expect(number).toMatchObject({ text: '1', kind: 'number' });
});

test('tool texts: tokens of progress in metadata of a server are no data', () => {
  const params = { _meta: { progressToken: 4711, 'io.modelcontextprotocol/related-task': { ttl: 4711 }, card: 7 } };
  expect(toolTexts({ content: [params] }, 'output')).toEqual([
    { text: 'card', path: ['content', 0, '_meta', 'card'], kind: 'name' },
    { text: '7', path: ['content', 0, '_meta', 'card'], kind: 'number' },
  ]);
});
