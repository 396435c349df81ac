import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { withToolIndexes } from '../../../../core/formats/openai/tool-indexes.ts';

const chunk = (...toolCalls: JsonObject[]): JsonObject => ({ choices: [{ index: 0, delta: { tool_calls: toolCalls } }] });
const indexesIn = ({ choices }: JsonObject): unknown[] =>
  (choices as { delta: { tool_calls: JsonObject[] } }[]).flatMap(({ delta }) => delta.tool_calls.map(({ index }) => index));

describe('streamed tool calls without an index', () => {
  it('are counted by their ids, and pieces without an id continue the last call', () => {
    const completed = withToolIndexes();
    const chunks = [
      chunk({ id: 'a' }),
      chunk({ function: { arguments: '{}' } }),
      chunk({ id: 'b' }, { id: 'c' }),
      chunk({ id: 'a' }),
    ];
    expect(chunks.map((each) => indexesIn(completed(each)))).toEqual([[0], [0], [1, 2], [0]]);
  });

  it('are counted per choice', () => {
    const completed = withToolIndexes();
    const two = { choices: [0, 1].map((index) => ({ index, delta: { tool_calls: [{ id: `of-${index}` }] } })) };
    expect(indexesIn(completed(two))).toEqual([0, 0]);
  });

  it.each([
    ['a call with an index', chunk({ index: 3, id: 'a' })],
    ['text', { choices: [{ index: 0, delta: { content: 'x' } }] }],
    ['no list of choices', { choices: 'none' }],
    ['a list of no calls', { choices: [{ delta: { tool_calls: [null, 7] } }, null] }],
  ])('stay the same object for %s', (_, given) => {
    expect(withToolIndexes()(given)).toBe(given);
  });
});

describe('streamed tool calls that share an index', () => {
  const call = (index: number, id: string | undefined, name: string | undefined, text = ''): JsonObject => ({
    ...{ index, function: { ...(name === undefined ? {} : { name }), arguments: text } },
    ...(id === undefined ? {} : { id }),
  });

  it('are separate calls if id and name are new, and pieces continue the last one', () => {
    const completed = withToolIndexes();
    const chunks = [
      call(0, 'a', 'f'),
      call(0, undefined, undefined, '{}'),
      call(0, 'b', 'f'),
      call(0, undefined, undefined, '{}'),
      call(1, 'c', 'g'),
    ];
    expect(chunks.map((each) => indexesIn(completed(chunk(each)))[0])).toEqual([0, 0, 1, 1, 2]);
  });

  it('are one call if the id is the same, or only the id is new', () => {
    const completed = withToolIndexes();
    const chunks = [call(0, 'a', 'f'), call(0, 'a', 'f', '{'), call(0, 'x', undefined, '}'), call(1, 'b', 'g')].map((each) =>
      chunk(each),
    );
    for (const each of chunks) expect(completed(each)).toBe(each);
  });
});
