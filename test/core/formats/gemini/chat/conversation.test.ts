import { describe, expect, it } from 'vitest';
import type { OperationCall } from '../../../../../core/contract/provider/provider.ts';
import type { StreamEvent } from '../../../../../core/contract/provider/stream-event.ts';
import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';
import { geminiChat } from '../../../../../core/formats/gemini/chat/chat-completions.ts';
import { chatRequest } from '../../../../../core/formats/gemini/chat/chat-request.ts';
import { thinkingConfig } from '../../../../../core/formats/gemini/chat/thinking.ts';
import { callOf, translated } from '../../../providers/contract-suite.ts';

const chat = geminiChat('google', () => '/m', { isGeminiApi: true });

function request(params: JsonObject, strict = true): { body: JsonObject; call: OperationCall } {
  const call = callOf({ model: 'gemini-3.8-flash', ...params }, { strict }, {});
  return { body: chatRequest(call.params, call, { isGeminiApi: true }), call };
}

/** The turns sent to Gemini for this history. */
function turns(messages: JsonObject[]): JsonObject[] {
  return request({ messages }).body.contents as JsonObject[];
}

describe('results of parallel calls', () => {
  const calls = (...ids: string[]): JsonObject => ({
    ...{ role: 'assistant', content: null },
    tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'weather', arguments: JSON.stringify({ id }) } })),
  });
  const result = (id: string, content: unknown = `of ${id}`): JsonObject => ({ role: 'tool', tool_call_id: id, content });
  const outputs = (messages: JsonObject[]): unknown[] =>
    turns(messages).map(({ parts }) =>
      (parts as JsonObject[]).map((part) => (part.functionResponse as JsonObject | undefined)?.response ?? Object.keys(part)[0]),
    );

  /** Models before Gemini 3 have no ids of calls: they match results of one function by their order. */
  it('have the order of the calls', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const sent = outputs([calls('a', 'b', 'c'), result('c'), result('a', [{ type: 'text', text: 'of a' }, image]), result('b')]);
    expect(sent[1]).toEqual([{ output: 'of a' }, 'inlineData', { output: 'of b' }, { output: 'of c' }]);
  });

  it('have that order in each turn, if ids are repeated', () => {
    const sent = outputs([calls('a', 'b'), result('b'), result('a'), calls('b', 'a'), result('a'), result('b')]);
    expect([sent[1], sent[3]]).toEqual([
      [{ output: 'of a' }, { output: 'of b' }],
      [{ output: 'of b' }, { output: 'of a' }],
    ]);
  });
});

describe('Gemini content in the next turn', () => {
  const part = (text: string, more: JsonObject = {}) => ({ text, ...more });
  const fn = (id: string, more: JsonObject = {}) => ({ functionCall: { id, name: 'f', args: { n: 1 } }, ...more });
  const signed = (text: string) => ({ thoughtSignature: text });

  it.each<[string, JsonObject[]]>([
    ['a signed call', [fn('a', signed('S1'))]],
    ['parallel calls, the first signed', [part('Let me see.'), fn('a', signed('S1')), fn('b')]],
    ['a signed text', [part('Done.', signed('S2'))]],
    ['a signed image', [{ inlineData: { mimeType: 'image/png', data: 'AAAA' }, ...signed('S3') }]],
    ['a text and a call, each signed', [part('Hm.', signed('S4')), fn('a', signed('S5'))]],
  ])('returns to its place: %s', (_, parts) => {
    const reply = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] };
    for (const strict of [true, false]) {
      const call = callOf({ model: 'gemini-3.8-flash' }, { strict }, {});
      const completion = chat.fromProvider?.(reply, call) as { choices: { message: JsonObject }[] };
      const message = JSON.parse(JSON.stringify(completion.choices[0]?.message));
      expect(turns([{ role: 'user', content: 'x' }, message])[1]).toEqual({ role: 'model', parts });
    }
  });

  it('includes executed code unchanged', () => {
    const parts = [
      { executableCode: { language: 'PYTHON', code: 'print(1)' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1\n' } },
      part('One.'),
    ];
    const call = callOf({ model: 'gemini-3.8-flash' }, { strict: false }, {});
    const completion = chat.fromProvider?.({ candidates: [{ content: { parts } }] }, call) as {
      choices: { message: JsonObject }[];
    };
    expect(turns([{ role: 'user', content: 'x' }, completion.choices[0]?.message as JsonObject])[1]?.parts).toEqual(parts);
  });
});

describe('a chat history for Gemini', () => {
  it('merges consecutive messages of one role and separates tool results', () => {
    const call = (id: string) => ({
      id,
      type: 'function',
      function: { name: 'f', arguments: '{}' },
      extra_content: { google: { thought_signature: 'S' } },
    });
    const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: id });
    const made = turns([
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
      { role: 'assistant', content: null, tool_calls: [call('1'), call('2')] },
      result('1'),
      result('2'),
      { role: 'user', content: 'c' },
    ]);
    expect(made.map(({ role, parts }) => [role, (parts as JsonObject[]).map((part) => Object.keys(part)[0])])).toEqual([
      ['user', ['text', 'text']],
      ['model', ['functionCall', 'functionCall']],
      ['user', ['functionResponse', 'functionResponse']],
      ['user', ['text']],
    ]);
  });

  it('gets a user turn if there are only instructions', () => {
    const { body, call } = request({ messages: [{ role: 'system', content: 'Sing.' }] });
    expect(body).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Sing.' }] }] });
    expect(call.adapted).toEqual(['messages']);
  });

  it.each<[string, JsonObject, RegExp]>([
    ['a result of no call', { messages: [{ role: 'tool', tool_call_id: 'x', content: '' }] }, /messages\[0\]\.tool_call_id/],
    ['a role of nobody', { messages: [{ role: 'ghost', content: '' }] }, /messages\[0\]\.role/],
    ['no messages', {}, /messages: a list/],
    [
      'an image without an address',
      { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
      /messages\[0\]\.content\[0\]\.image_url/,
    ],
    [
      'a custom tool',
      { messages: [{ role: 'user', content: 'x' }], tools: [{ type: 'custom', custom: { name: 'c' } }] },
      /tools\[0\]/,
    ],
  ])('is rejected by name: %s', (_, params, message) => {
    expect(() => request(params)).toThrow(message);
  });
});

describe('functions that stand for Google tools', () => {
  const sentTools = (...functions: JsonObject[]) => {
    const tools = functions.map((fn) => ({ type: 'function', function: fn }));
    const call = callOf({ model: 'gemini-3.8-flash', messages: [{ role: 'user', content: 'x' }], tools }, {}, {});
    return chatRequest(call.params, call, { isGeminiApi: true }).tools;
  };

  it('have a name alone, in either spelling', () => {
    expect(sentTools({ name: 'google_search' }, { name: 'urlContext' })).toEqual([{ googleSearch: {} }, { urlContext: {} }]);
  });

  it('are functions of the client with a description or parameters', () => {
    const own = { name: 'google_search', description: 'Searches our index.' };
    expect(sentTools(own)).toEqual([{ functionDeclarations: [own] }]);
  });

  const named = (name: string) => ({ type: 'function', function: { name } });
  it.each<[string, JsonObject, JsonObject]>([
    ['a forced one', named('google_search'), { mode: 'AUTO' }],
    [
      'one of several',
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [named('google_search'), named('f')] } },
      { mode: 'ANY', allowedFunctionNames: ['f'] },
    ],
  ])('are not named in the choice, because Gemini only knows functions there: %s', (_, choice, expected) => {
    const tools = [named('google_search'), named('f')];
    const messages = [{ role: 'user', content: 'x' }];
    const call = callOf({ model: 'gemini-2.5-flash', messages, tools, tool_choice: choice }, {}, {});
    const { toolConfig } = chatRequest(call.params, call, { isGeminiApi: true });
    expect([toolConfig, call.adapted]).toEqual([{ functionCallingConfig: expected }, ['tool_choice']]);
  });
});

describe('Google tools together with functions', () => {
  const fn = { type: 'function', function: { name: 'f' } };
  const sentConfig = (model: string, tools: JsonObject[], isGeminiApi = true) => {
    const call = callOf({ model, messages: [{ role: 'user', content: 'x' }], tools }, {}, {});
    return chatRequest(call.params, call, { isGeminiApi }).toolConfig;
  };

  it('are returned, so that the next turn can include their parts', () => {
    expect(sentConfig('gemini-3.8-flash', [fn, { googleSearch: {} }])).toEqual({ includeServerSideToolInvocations: true });
  });

  it.each<[string, JsonObject[], boolean]>([
    ['gemini-2.5-flash', [fn, { googleSearch: {} }], true],
    ['gemini-3.8-flash', [{ googleSearch: {} }], true],
    ['gemini-3.8-flash', [fn], true],
    ['gemini-3.8-flash', [fn, { googleSearch: {} }], false],
  ])('are not returned for %s with %j, Gemini API %s', (model, tools, isGeminiApi) => {
    expect(sentConfig(model, tools, isGeminiApi)).toBeUndefined();
  });
});

describe('reasoning of Gemini', () => {
  const config = (model: string, params: JsonObject, strict = true) => {
    const call = callOf({ model, ...params }, { strict }, {});
    return [thinkingConfig(call.params, call).thinkingConfig, call.adapted, call.dropped];
  };

  it.each<[string, JsonObject, JsonObject | undefined, string[], string[]]>([
    ['gemini-3.8-flash', { reasoning_effort: 'low' }, { thinkingLevel: 'LOW' }, [], []],
    ['gemini-3.8-flash', { reasoning_effort: 'minimal' }, { thinkingLevel: 'LOW' }, ['reasoning_effort'], []],
    ['gemini-3.6-flash', { reasoning_effort: 'minimal' }, { thinkingLevel: 'MINIMAL' }, [], []],
    ['gemini-3-pro-preview', { reasoning_effort: 'medium' }, { thinkingLevel: 'HIGH' }, ['reasoning_effort'], []],
    ['gemini-4-argon', { reasoning_effort: 'xhigh' }, { thinkingLevel: 'HIGH' }, ['reasoning_effort'], []],
    ['gemini-4-argon', { reasoning_effort: 'none' }, { thinkingLevel: 'LOW' }, ['reasoning_effort'], []],
    ['gemini-flash-latest', { reasoning_effort: 'high' }, { thinkingLevel: 'HIGH' }, [], []],
    ['gemini-2.5-flash', { reasoning_effort: 'medium' }, { thinkingBudget: 8192 }, [], []],
    ['gemini-2.5-flash', { reasoning_effort: 'none' }, { thinkingBudget: 0 }, [], []],
    ['gemini-2.5-pro', { reasoning_effort: 'none' }, { thinkingBudget: 128 }, ['reasoning_effort'], []],
    ['gemini-2.5-flash', { thinking: { type: 'enabled', budget_tokens: 5000 } }, { thinkingBudget: 5000 }, [], []],
    ['gemini-3.8-flash', { thinking: { type: 'enabled', budget_tokens: 5000 } }, { thinkingLevel: 'MEDIUM' }, ['thinking'], []],
    ['gemini-2.0-flash', { reasoning_effort: 'low' }, undefined, [], ['reasoning_effort']],
    ['gemma-3-27b-it', { thinking: { type: 'disabled' } }, undefined, [], []],
  ])('for %s with %j is %j', (model, params, expected, adapted, dropped) => {
    const [made, ...reported] = config(model, params);
    const { includeThoughts: _, ...amount } = (made ?? {}) as JsonObject;
    expect([made && amount, ...reported]).toEqual([expected, adapted, dropped]);
  });

  it.each([true, false])('is summarised if the caller requests reasoning, strict compliance %s', (strict) => {
    expect(config('gemini-3.8-flash', { reasoning_effort: 'low' }, strict)[0]).toEqual({
      thinkingLevel: 'LOW',
      includeThoughts: true,
    });
    expect(config('gemini-3.8-flash', { thinking: { type: 'adaptive' } }, strict)[0]).toEqual({ includeThoughts: true });
    expect(config('gemini-2.5-flash', { reasoning_effort: 'none' }, strict)[0]).toEqual({ thinkingBudget: 0 });
    expect(config('gemini-3.8-flash', {}, strict)[0]).toBeUndefined();
  });
});

describe('a Gemini stream', () => {
  const call = () => callOf({ model: 'gemini-3.8-flash', stream: true, stream_options: { include_usage: true } }, {}, {});
  const event = (data: JsonObject) => ({ event: null, data });
  const text = event({ candidates: [{ content: { parts: [{ text: 'Hel' }] } }] });
  const error = event({ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } });

  it('reports a provider error in-band and ends incomplete', () => {
    const events = translated(chat, [text, error, event({ candidates: [{ finishReason: 'STOP' }] })], call());
    expect(events).toHaveLength(2);
    expect(events[1]?.data).toEqual({
      error: { message: 'google error: The model is overloaded.', type: 'UNAVAILABLE', param: null, code: null },
      provider: 'google',
    });
    const reader = chat.streamReader();
    for (const each of [text, error]) reader.push(each);
    expect([reader.complete(), reader.error?.()?.status]).toEqual([false, 503]);
  });

  it('sends nothing for an error before its first byte, so that another target can reply', () => {
    expect(translated(chat, [error], call())).toEqual([]);
  });

  it('ends incomplete if one of two candidates was cut', () => {
    const both = event({
      candidates: [
        { index: 0, finishReason: 'STOP' },
        { index: 1, content: { parts: [{ text: 'x' }] } },
      ],
    });
    const reader = chat.streamReader();
    reader.push(both);
    expect(reader.complete()).toBe(false);
    expect(translated(chat, [both], call()).at(-1)?.data).not.toBe('[DONE]');
  });

  it('uses the last event with a total, and sums before it', () => {
    const counted = (usageMetadata: JsonObject, finishReason?: string) =>
      event({ candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason }], usageMetadata });
    const first = { promptTokenCount: 87, candidatesTokenCount: 21 };
    const events = [counted(first), counted({ promptTokenCount: 87, thoughtsTokenCount: 78, totalTokenCount: 165 }, 'STOP')];
    const reader = chat.streamReader();
    reader.push(events[0] as StreamEvent);
    expect(reader.usage()).toMatchObject({ inputTokens: 87, outputTokens: 21 });
    reader.push(events[1] as StreamEvent);
    expect(reader.usage()).toMatchObject({ inputTokens: 87, outputTokens: 78, reasoningTokens: 78 });
    const usage = { prompt_tokens: 87, completion_tokens: 78, total_tokens: 165 };
    expect(translated(chat, events, call()).at(-2)?.data).toMatchObject({ usage });
  });

  it('gives the reason for a rejected prompt', () => {
    const events = translated(
      chat,
      [event({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 4 } })],
      call(),
    );
    expect(events.map(({ data }) => data)).toMatchObject([
      { choices: [{ delta: { role: 'assistant', refusal: 'The prompt was blocked: SAFETY' }, finish_reason: null }] },
      { choices: [{ delta: {}, finish_reason: 'content_filter' }] },
      { choices: [], usage: { prompt_tokens: 4, total_tokens: 4 } },
      '[DONE]',
    ]);
  });
});
