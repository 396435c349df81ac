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

test('tool texts: deep values and members named __proto__ are refused', () => {
  let deep: unknown = 'end';
  for (let level = 0; level < 210; level++) deep = [deep];
  expect(() => toolTexts({ arguments: deep }, 'input')).toThrow('200 levels');
  expect(() => toolTexts({ arguments: JSON.parse('{"__proto__":1}') }, 'input')).toThrow('__proto__');
});
