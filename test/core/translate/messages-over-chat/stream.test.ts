import { describe, expect, it } from 'vitest';
import type { Operation, ProviderAdapter } from '../../../../core/contract/provider/provider.ts';
import type { StreamEvent } from '../../../../core/contract/provider/stream-event.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { bedrock } from '../../../../core/providers/bedrock/index.ts';
import { google } from '../../../../core/providers/google/index.ts';
import { openai } from '../../../../core/providers/openai/index.ts';
import { messagesOverChat } from '../../../../core/translate/messages-over-chat/messages-over-chat.ts';
import { endingOf } from '../../../../core/translate/messages-over-chat/stop-reason.ts';
import { repliesOfEvents } from '../../providers/assemble-reply.ts';
import { callOf, translated } from '../../providers/contract-suite.ts';

const operation = messagesOverChat(openai.operations.chatComplete as Operation);
const call = () => callOf({ model: 'm', max_tokens: 5, stream: true, messages: [{ role: 'user', content: 'x' }] }, {}, {});
const done: StreamEvent = { event: null, data: '[DONE]' };

function chunk(delta: JsonObject, finish: string | null = null): StreamEvent {
  return {
    event: null,
    data: { id: 'c1', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] },
  };
}
function tool(index: number, args: string, name?: string): StreamEvent {
  const begins = name === undefined ? {} : { id: `call_${index}`, type: 'function' };
  return chunk({ tool_calls: [{ index, ...begins, function: { ...(name === undefined ? {} : { name }), arguments: args } }] });
}
function types(events: readonly StreamEvent[]): string[] {
  return events.map((event) => String((event.data as JsonObject).type));
}
/** The Messages format requires that every block opens, fills and closes before the next one begins. */
function expectOneBlockAtATime(events: readonly StreamEvent[]): void {
  let open = -1;
  let last = -1;
  for (const data of events.map((event) => event.data as JsonObject)) {
    const index = data.index as number;
    if (data.type === 'content_block_start') {
      expect([open, index]).toEqual([-1, last + 1]);
      open = last = index;
    } else if (data.type === 'content_block_delta') expect(index).toBe(open);
    else if (data.type === 'content_block_stop') {
      expect(index).toBe(open);
      open = -1;
    }
  }
  expect(open).toBe(-1);
}

describe('the end of a stream', () => {
  it('comes without [DONE] after a finish reason', () => {
    const events = translated(operation, [chunk({ content: 'Hi' }), chunk({}, 'stop')], call());
    expect(types(events).slice(-3)).toEqual(['content_block_stop', 'message_delta', 'message_stop']);
  });

  it('comes once', () => {
    const events = translated(operation, [chunk({ content: 'Hi' }, 'stop'), done, done], call());
    expect(types(events).filter((type) => type === 'message_stop')).toHaveLength(1);
  });

  it('does not come for a stream that was cut', () => {
    const events = translated(operation, [chunk({ content: 'Hi' })], call());
    expect(types(events)).toEqual(['message_start', 'content_block_start', 'content_block_delta']);
  });

  it('does not come after an error, which is returned in the Messages format', () => {
    const error = { event: null, data: { error: { message: 'out of capacity', type: 'server_error' } } };
    const events = translated(operation, [chunk({ content: 'Hi' }), error, done], call());
    expect(events.at(-1)).toEqual({
      event: 'error',
      data: { type: 'error', error: { type: 'api_error', message: 'out of capacity' } },
    });
    expect(types(events)).not.toContain('message_stop');
    expect(translated(operation, [error, done], call())).toEqual([]);
  });

  it.each<StreamEvent>([
    { event: null, data: { message: 'm', type: 'server_error', code: 'c' } },
    { event: null, data: { detail: 'm' } },
    { event: 'error', data: 'm' },
  ])('does not come after the error %j', (error) => {
    for (const include_usage of [true, false]) {
      const over = messagesOverChat(openai.operations.chatComplete as Operation);
      const asking = callOf({ ...call().params, stream_options: { include_usage } }, {}, {});
      const events = translated(over, [chunk({ content: 'Hi' }), error, done], asking);
      expect(events.at(-1)).toEqual({ event: 'error', data: { type: 'error', error: { type: 'api_error', message: 'm' } } });
      expect(types(events)).not.toContain('message_stop');
    }
  });

  it('comes for an empty reply too', () => {
    expect(types(translated(operation, [done], call()))).toEqual(['message_start', 'message_delta', 'message_stop']);
  });
});

describe('tool calls', () => {
  it('come one after the other, each complete, if their pieces were mixed', () => {
    const mixed = [
      tool(0, '', 'a'),
      tool(0, '{"x"'),
      tool(1, '', 'b'),
      tool(1, '{"y":'),
      tool(0, ':1}'),
      tool(1, '2}'),
      chunk({}, 'tool_calls'),
      done,
    ];
    const events = translated(operation, mixed, call());
    expectOneBlockAtATime(events);
    expect(repliesOfEvents('messages', events)[0]?.toolCalls).toEqual([
      { name: 'a', arguments: { x: 1 } },
      { name: 'b', arguments: { y: 2 } },
    ]);
  });

  it('are sent as they arrive', () => {
    const translator = operation.translateStream?.(call());
    translator?.push(tool(0, '', 'a'));
    expect(types(translator?.push(tool(0, '{"x":1}')) ?? [])).toEqual(['content_block_delta']);
    expect(types(translator?.push(tool(1, '', 'b')) ?? [])).toEqual(['content_block_stop', 'content_block_start']);
  });

  it('keep text that follows them', () => {
    const events = translated(operation, [tool(0, '{}', 'a'), chunk({ content: 'after' }), chunk({}, 'stop'), done], call());
    expectOneBlockAtATime(events);
    const [reply] = repliesOfEvents('messages', events);
    expect([reply?.text, reply?.toolCalls.length, reply?.finish]).toEqual(['after', 1, 'tool_use']);
  });

  it('with malformed arguments have no arguments in a plain reply', () => {
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 't', type: 'function', function: { name: 'a', arguments: '{"b' } }],
    };
    const reply = { id: 'c1', model: 'm', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
    expect(operation.fromProvider?.(reply, call()).content).toEqual([{ type: 'tool_use', id: 't', name: 'a', input: {} }]);
  });
});

describe('reasoning in Messages', () => {
  it('keeps signatures if the provider returns signed blocks, one block per signature', () => {
    const piece = (index: number, delta: JsonObject) => chunk({ content_blocks: [{ index, delta }] });
    const pieces = [
      piece(0, { type: 'thinking', thinking: '', signature: '' }),
      piece(0, { thinking: 'one' }),
      piece(0, { signature: 's1' }),
      piece(1, { type: 'redacted_thinking', data: 'xx' }),
      piece(2, { type: 'thinking', thinking: '', signature: '' }),
      piece(2, { thinking: 'two' }),
      piece(2, { signature: 's2' }),
      chunk({ content: 'So.', content_blocks: [{ index: 3, delta: { text: 'So.' } }] }),
      chunk({}, 'end_turn'),
      done,
    ];
    const events = translated(operation, pieces, call());
    expectOneBlockAtATime(events);
    const data = events.map((event) => event.data as JsonObject);
    expect(
      data.filter((event) => event.type === 'content_block_start').map((event) => (event.content_block as JsonObject).type),
    ).toEqual(['thinking', 'redacted_thinking', 'thinking', 'text']);
    const signatures = data.map((event) => (event.delta as JsonObject | undefined)?.signature).filter(Boolean);
    expect(signatures).toEqual(['s1', 's2']);
    expect(repliesOfEvents('messages', events)).toEqual([
      { text: 'So.', reasoning: 'onetwo', toolCalls: [], finish: 'end_turn' },
    ]);
  });

  it('keeps signatures in plain replies', () => {
    const thought = { type: 'thinking', thinking: 'one', signature: 's1' };
    const message = { role: 'assistant', content: 'So.', content_blocks: [thought, { type: 'text', text: 'So.' }] };
    const reply = { id: 'c1', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] };
    expect(operation.fromProvider?.(reply, call()).content).toEqual([thought, { type: 'text', text: 'So.' }]);
  });
});

it('Messages stream: text may come as a list of parts', () => {
  const parts = (text: string) => chunk({ content: [{ type: 'text', text }] });
  const events = translated(operation, [parts('Hel'), parts('lo'), chunk({}, 'stop'), done], call());
  expect(repliesOfEvents('messages', events)[0]?.text).toBe('Hello');
});

describe('stop reasons', () => {
  const said = (callsTools: boolean) => ({ callsTools: () => callsTools, refuses: () => false });

  it.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['tool_calls', 'tool_use'],
    ['function_call', 'tool_use'],
    ['content_filter', 'refusal'],
    ['SAFETY', 'refusal'],
    ['guardrail_intervened', 'refusal'],
    ['malformed_tool_use', 'max_tokens'],
    ['refusal', 'refusal'],
    ['stop_sequence', 'stop_sequence'],
    ['svc_new_reason', 'end_turn'],
    [null, 'end_turn'],
  ])('%s becomes %s', (finish, expected) => {
    expect(endingOf({ finish_reason: finish }, said(false)).stop_reason).toBe(expected);
  });

  it('are tool_use for a reply with calls and the reason stop', () => {
    expect(endingOf({ finish_reason: 'stop' }, said(true)).stop_reason).toBe('tool_use');
    expect(endingOf({ finish_reason: 'length' }, said(true)).stop_reason).toBe('max_tokens');
  });
});

describe('an error in the middle of a stream', () => {
  const geminiText = { candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Hi' }] } }] };
  const plain = (data: JsonObject): StreamEvent => ({ event: null, data });

  it.each([
    [
      'RESOURCE_EXHAUSTED of Gemini',
      google,
      [plain(geminiText), plain({ error: { code: 429, message: 'm', status: 'RESOURCE_EXHAUSTED' } })],
      'rate_limit_error',
    ],
    [
      'UNAVAILABLE of Gemini',
      google,
      [plain(geminiText), plain({ error: { code: 503, message: 'm', status: 'UNAVAILABLE' } })],
      'overloaded_error',
    ],
    [
      'a throttled stream of Bedrock',
      bedrock,
      [
        { event: 'messageStart', data: { role: 'assistant' } },
        { event: 'throttlingException', data: { message: 'm' } },
      ],
      'rate_limit_error',
    ],
    [
      'rate_limit_exceeded of OpenAI',
      openai,
      [chunk({ content: 'Hi' }), plain({ error: { message: 'm', type: 'tokens', code: 'rate_limit_exceeded' } })],
      'rate_limit_error',
    ],
    ['an error without a known cause', openai, [chunk({ content: 'Hi' }), plain({ error: { message: 'm' } })], 'api_error'],
  ] satisfies [string, ProviderAdapter, StreamEvent[], string][])(
    'has the type that clients retry by: %s',
    (_name, provider, events, type) => {
      const over = messagesOverChat(provider.operations.chatComplete as Operation);
      const last = translated(over, events, call()).at(-1);
      expect(last).toMatchObject({ event: 'error', data: { type: 'error', error: { type } } });
    },
  );
});
