import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { chatComplete as azureChat } from '../../../../core/providers/azure-openai/operations.ts';
import { bedrock } from '../../../../core/providers/bedrock/index.ts';
import { cohere } from '../../../../core/providers/cohere/index.ts';
import { adapters as rowAdapters } from '../../../../core/providers/compatible-rows/index.ts';
import { google } from '../../../../core/providers/google/index.ts';
import { groq } from '../../../../core/providers/groq/index.ts';
import { mistralAi } from '../../../../core/providers/mistral-ai/index.ts';
import { openai } from '../../../../core/providers/openai/index.ts';
import { callOf } from '../../providers/contract-suite.ts';

const chatOf = (adapter: { operations: { chatComplete?: Operation } }): Operation => adapter.operations.chatComplete as Operation;
const cerebras = rowAdapters.find(({ id }) => id === 'cerebras') as typeof openai;
const azureSettings = { azure_resource_name: 'r', azure_deployment_name: 'd', azure_api_version: 'v1' };

/** The message of a reply as the gateway or another provider returns it, which the OpenAI SDK sends back as it is. */
const replied = {
  role: 'assistant',
  content: 'Sunny.',
  refusal: null,
  annotations: [],
  audio: null,
  reasoning_content: 'The user asks for the weather.',
  parsed: null,
  content_blocks: [{ type: 'text', text: 'Sunny.' }],
  tool_calls: [
    {
      id: 'abcdefghi',
      type: 'function',
      function: { name: 'weather', arguments: '{}', parsed_arguments: {} },
      extra_content: { google: { thought_signature: 's' } },
    },
  ],
};
const calls = [{ id: 'abcdefghi', type: 'function', function: { name: 'weather', arguments: '{}' } }];
const result = { role: 'tool', tool_call_id: 'abcdefghi', content: '21' };
const user = { role: 'user', content: 'weather?' };

function send(chat: Operation, messages: readonly JsonObject[], settings: JsonObject = {}, more: JsonObject = {}) {
  const params = { model: 'm', messages, ...more };
  const call = callOf(params, {}, settings);
  const body = chat.toProvider?.(params, call) as JsonObject;
  return { params, body, sent: body.messages as JsonObject[], dropped: call.dropped, adapted: call.adapted };
}

describe('messages of earlier replies', () => {
  it.each([
    ['groq', chatOf(groq)],
    ['cerebras', chatOf(cerebras)],
  ])('have text and tool calls only for %s, which rejects other fields', (_name, chat) => {
    const { sent, dropped } = send(chat, [user, replied, result]);
    expect(sent).toEqual([user, { role: 'assistant', content: 'Sunny.', tool_calls: calls }, result]);
    expect(dropped.toSorted()).toEqual(['messages.content_blocks', 'messages.extra_content', 'messages.reasoning_content']);
  });

  it('have text, reasoning and tool calls for mistral-ai', () => {
    const { sent, dropped } = send(chatOf(mistralAi), [{ ...user, name: 'bob' }, replied, result]);
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: replied.reasoning_content }] },
      { type: 'text', text: 'Sunny.' },
    ];
    expect(sent).toEqual([user, { role: 'assistant', content, tool_calls: calls }, result]);
    expect(dropped.toSorted()).toEqual(['messages.content_blocks', 'messages.extra_content', 'messages.name']);
  });

  it.each([
    ['openai', chatOf(openai), {}],
    ['azure-openai', azureChat, azureSettings],
  ])('have the fields of OpenAI for %s', (_name, chat, settings) => {
    const { sent, dropped } = send(chat, [user, replied, result], settings);
    const { reasoning_content: _reasoning, content_blocks: _blocks, ...own } = replied;
    const ownCalls = replied.tool_calls.map(({ extra_content: _extra, ...call }) => call);
    expect(sent).toEqual([user, { ...own, tool_calls: ownCalls }, result]);
    expect(dropped.toSorted()).toEqual(['messages.content_blocks', 'messages.extra_content', 'messages.reasoning_content']);
  });

  const ofOthers = {
    role: 'assistant',
    content: 'Sunny.',
    reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', format: 'anthropic-claude-v1', index: 0 }],
    executed_tools: [{ type: 'search', arguments: '{}', index: 0, output: 'Sunny.' }],
    prefix: false,
  };

  it.each([
    ['openai', chatOf(openai), {}],
    ['groq', chatOf(groq), {}],
    ['cerebras', chatOf(cerebras), {}],
    ['mistral-ai', chatOf(mistralAi), { prefix: false }],
  ])('have no fields of replies of other providers for %s', (_name, chat, own) => {
    const { sent, dropped } = send(chat, [user, ofOthers, user]);
    expect(sent).toEqual([user, { role: 'assistant', content: 'Sunny.', ...own }, user]);
    // `prefix: false` has no effect, so its loss is not reported.
    expect(dropped.toSorted()).toEqual(['messages.executed_tools', 'messages.reasoning_details']);
  });

  it('pass unchanged to a custom host of openai', () => {
    const { params, body } = send(chatOf(openai), [user, replied, result], { custom_host: 'http://127.0.0.1:8000/v1' });
    expect(body).toBe(params);
  });

  it('pass as the same object if they have no such field', () => {
    const { params, body } = send(chatOf(openai), [
      user,
      { role: 'assistant', content: null, refusal: 'No.', tool_calls: calls },
      result,
    ]);
    expect(body).toBe(params);
  });

  it('keep a refusal as text if the provider has no field for it', () => {
    const refusals = [
      { role: 'assistant', content: null, refusal: 'I cannot.' },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'I cannot.' }] },
    ];
    const { sent, adapted } = send(chatOf(groq), [user, ...refusals, user]);
    expect(sent.slice(1, 3)).toEqual([
      { role: 'assistant', content: 'I cannot.' },
      { role: 'assistant', content: [{ type: 'text', text: 'I cannot.' }] },
    ]);
    expect(adapted).toEqual(['messages.refusal']);
  });
});

describe('caching hints of Anthropic', () => {
  const hint = { cache_control: { type: 'ephemeral' } };
  const messages = [{ role: 'developer', content: [{ type: 'text', text: 'be brief', ...hint }] }, user];
  const tools = [{ type: 'function', function: { name: 'weather' }, ...hint }];

  it.each([
    ['openai', chatOf(openai), {}],
    ['azure-openai', azureChat, azureSettings],
    ['mistral-ai', chatOf(mistralAi), {}],
    ['groq', chatOf(groq), {}],
    ['google', chatOf(google), {}],
    ['cohere', chatOf(cohere), {}],
  ])('are left out for %s, which rejects them', (_name, chat, settings) => {
    const inFunction = [{ type: 'function', function: { name: 'weather', ...hint } }];
    const places = [
      { messages, tools },
      { messages: [user], tools: inFunction },
    ];
    for (const { messages: said, tools: offered } of places) {
      const { body, dropped } = send(chat, said, settings, { tools: offered });
      expect(JSON.stringify(body)).not.toContain('cache_control');
      expect(dropped).toEqual(['cache_control']);
    }
  });

  it('reach bedrock from functions', () => {
    const { body } = send(chatOf(bedrock), [user], {}, { tools: [{ type: 'function', function: { name: 'weather', ...hint } }] });
    expect(body).toMatchObject({
      toolConfig: { tools: [{ toolSpec: { name: 'weather' } }, { cachePoint: { type: 'default' } }] },
    });
  });
});

describe('allowed_tools', () => {
  const named = (name: string) => ({ type: 'function', function: { name } });
  const choice = (mode: string) => ({ type: 'allowed_tools', allowed_tools: { mode, tools: [named('time')] } });

  it.each([
    ['mistral-ai', chatOf(mistralAi)],
    ['groq', chatOf(groq)],
  ])('becomes the list of tools for %s, which lacks it', (_name, chat) => {
    const tools = [named('weather'), named('time')];
    const { body, adapted } = send(chat, [user], {}, { tools, tool_choice: choice('required') });
    expect(body).toMatchObject({ tools: [named('time')], tool_choice: 'required' });
    expect(adapted).toEqual(['tool_choice']);
  });

  it('passes to openai', () => {
    const { params, body } = send(chatOf(openai), [user], {}, { tools: [named('time')], tool_choice: choice('auto') });
    expect(body).toBe(params);
  });
});
