import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';
import { bedrock } from '../../../../../core/providers/bedrock/index.ts';
import { callOf } from '../../contract-suite.ts';

const hint = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const text = (words: string): JsonObject[] => [{ type: 'text', text: words, ...hint }];
const toolCalls = [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } }];
const tools = [{ type: 'function', function: { name: 'read', parameters: {} }, ...hint }];

/** Returns the names of the blocks that one agent's call, with a hint in each place, becomes. */
function blocksFor(model: string) {
  const messages = [
    { role: 'system', content: text('Be brief.') },
    { role: 'user', content: text('Read it.') },
    { role: 'assistant', content: text('One moment.'), tool_calls: toolCalls },
    { role: 'tool', tool_call_id: 'c1', content: 'hello', ...hint },
  ];
  const params = { model, messages, tools };
  const call = callOf(params, {}, {});
  const body = bedrock.operations.chatComplete?.toProvider?.(params, call) as unknown as Body;
  const names = (blocks: JsonObject[]): string[] => blocks.flatMap((block) => Object.keys(block));
  return {
    system: names(body.system),
    turns: body.messages.map(({ content }) => names(content)),
    tools: names(body.toolConfig.tools),
    point: body.system.find((block) => block.cachePoint !== undefined)?.cachePoint,
    dropped: call.dropped,
  };
}

interface Body {
  readonly system: JsonObject[];
  readonly messages: { readonly content: JsonObject[] }[];
  readonly toolConfig: { readonly tools: JsonObject[] };
}

describe('caching hints on Bedrock', () => {
  it.each(['eu.anthropic.claude-sonnet-4-5-20250929-v1:0', 'arn:aws:bedrock:eu-west-1:1:application-inference-profile/x1'])(
    'are cache points in each place for %s',
    (model) => {
      expect(blocksFor(model)).toEqual({
        system: ['text', 'cachePoint'],
        turns: [
          ['text', 'cachePoint'],
          ['text', 'cachePoint', 'toolUse'],
          ['toolResult', 'cachePoint'],
        ],
        tools: ['toolSpec', 'cachePoint'],
        point: { type: 'default', ttl: '1h' },
        dropped: [],
      });
    },
  );

  it.each([
    ['us.anthropic.claude-3-7-sonnet-20250219-v1:0', undefined],
    ['anthropic.claude-sonnet-4-20250514-v1:0', undefined],
    ['arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-1-20250805-v1:0', undefined],
    ['anthropic.claude-opus-4-5-20251101-v1:0', '1h'],
    ['anthropic.claude-sonnet-5', '1h'],
  ])('have an hour as time to live if %s has one: %s', (model, ttl) => {
    const { point, dropped } = blocksFor(model);
    expect(point).toEqual({ type: 'default', ...(ttl === undefined ? {} : { ttl }) });
    expect(dropped).toEqual(ttl === undefined ? ['cache_control.ttl'] : []);
  });

  it.each(['amazon.nova-pro-v1:0', 'us.amazon.nova-2-lite-v1:0'])(
    'are cache points without a time to live for %s, and left out beside tools',
    (model) => {
      expect(blocksFor(model)).toEqual({
        system: ['text', 'cachePoint'],
        turns: [['text', 'cachePoint'], ['text', 'toolUse'], ['toolResult']],
        tools: ['toolSpec'],
        point: { type: 'default' },
        dropped: ['cache_control'],
      });
    },
  );

  it.each(['openai.gpt-oss-120b-1:0', 'us.meta.llama3-3-70b-instruct-v1:0', 'amazon.titan-text-premier-v1:0'])(
    'are dropped for %s, which rejects cache points',
    (model) => {
      const { turns, ...rest } = blocksFor(model);
      expect(turns.flat()).toContain('toolResult');
      expect(turns.flat()).not.toContain('cachePoint');
      expect(rest).toEqual({ system: ['text'], tools: ['toolSpec'], point: undefined, dropped: ['cache_control'] });
    },
  );

  it.each([
    ['the message', { content: 'hello', ...hint }],
    ['its content', { content: [...text('hello'), ...text('again')] }],
    ['both', { content: text('hello'), ...hint }],
  ])('follow the result of a tool once if they are in %s', (_, message) => {
    const model = 'anthropic.claude-sonnet-4-5-20250929-v1:0';
    const messages = [
      { role: 'user', content: 'Read it.' },
      { role: 'assistant', tool_calls: toolCalls },
      { role: 'tool', tool_call_id: 'c1', ...message },
    ];
    const params = { model, messages };
    const body = bedrock.operations.chatComplete?.toProvider?.(params, callOf(params, {}, {})) as unknown as Body;
    const [result, ...after] = body.messages[2]?.content ?? [];
    expect(JSON.stringify(result)).not.toContain('cachePoint');
    expect(after).toEqual([{ cachePoint: { type: 'default', ttl: '1h' } }]);
  });
});
