import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, type Script } from '../../../core/test-kit/pipeline-harness.ts';
import { messagesReply, messagesStream, replyWith, streamOf } from '../../../core/test-kit/provider-scripts.ts';

/** Replies of providers in other formats repeat their text. A redacted word must not remain in the repetition. */
const providers = { claude: 'anthropic', gemini: 'google', cohere: 'cohere', one: 'openai' };
const modes = ['plain', 'buffer', 'window'] as const;
type Mode = (typeof modes)[number];

interface Case {
  readonly provider: keyof typeof providers;
  readonly path?: string;
  readonly plain: JsonObject;
  readonly stream: Script;
}

const message = { role: 'user', content: 'hi' };

async function send(mode: Mode, guardrail: JsonObject, { provider, path, plain, stream }: Case): Promise<string> {
  const gateway = createHarness({ providers });
  gateway.script(mode === 'plain' ? replyWith(200, plain) : stream);
  const list = { ...guardrail, ...(mode === 'plain' ? {} : { stream: mode }) };
  const config = { provider: `@${provider}`, strict_open_ai_compliance: false, output_guardrails: [list] };
  const reply = await gateway.send({
    path: path ?? '/v1/chat/completions',
    headers: { 'x-svc-config': JSON.stringify(config) },
    body: { model: 'm', max_tokens: 9, messages: [message], ...(mode === 'plain' ? {} : { stream: true }) },
  });
  expect(reply.status).toBe(200);
  return reply.text;
}

/** Results show the pattern. It must not contain the word. */
const redact = { 'default.regexReplace': { rule: '/[s]ecret/g', redactText: '***' } };
const events = (list: readonly JsonObject[]): Script =>
  streamOf(list.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`));
const data = (list: readonly JsonObject[]): Script => streamOf(list.map((event) => `data: ${JSON.stringify(event)}\n\n`));

const grounded = (text: string) => ({
  candidates: [
    {
      index: 0,
      finishReason: 'STOP',
      content: { role: 'model', parts: [{ text }] },
      groundingMetadata: {
        groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
        groundingSupports: [{ segment: { startIndex: 0, endIndex: 8, text }, groundingChunkIndices: [0] }],
      },
    },
  ],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
});
const cohereCitation = { start: 2, end: 8, text: 'secret', sources: [{ type: 'document', id: 'd', document: { id: 'd' } }] };
const cited = { type: 'url_citation', url_citation: { start_index: 0, end_index: 8, url: 'https://a.example', title: 'A' } };
const chatChunk = (delta: JsonObject, finish_reason: string | null = null) => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta, finish_reason }],
});

const cases: Record<string, Case> = {
  'native blocks of Claude': { provider: 'claude', plain: messagesReply('a secret'), stream: messagesStream(['a se', 'cret']) },
  'native blocks of Gemini': {
    provider: 'gemini',
    plain: grounded('a secret'),
    stream: data([
      { candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'a ' }] } }] },
      { ...grounded('secret') },
    ]),
  },
  'citations of Cohere': {
    provider: 'cohere',
    plain: {
      id: 'c',
      finish_reason: 'COMPLETE',
      message: { role: 'assistant', content: [{ type: 'text', text: 'a secret' }], citations: [cohereCitation] },
      usage: { tokens: { input_tokens: 1, output_tokens: 1 } },
    },
    stream: events([
      { type: 'message-start', id: 'c', delta: { message: { role: 'assistant' } } },
      { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
      { type: 'content-delta', index: 0, delta: { message: { content: { text: 'a secret' } } } },
      { type: 'content-end', index: 0 },
      { type: 'citation-start', index: 0, delta: { message: { citations: cohereCitation } } },
      { type: 'citation-end', index: 0 },
      { type: 'message-end', delta: { finish_reason: 'COMPLETE', usage: { tokens: { input_tokens: 1, output_tokens: 1 } } } },
    ]),
  },
  'citations of a Messages reply by OpenAI': {
    provider: 'one',
    path: '/v1/messages',
    plain: {
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
      choices: [{ index: 0, message: { role: 'assistant', content: 'a secret', annotations: [cited] }, finish_reason: 'stop' }],
    },
    stream: data([
      chatChunk({ role: 'assistant', content: 'a sec' }),
      chatChunk({ content: 'ret' }),
      chatChunk({ annotations: [cited] }, 'stop'),
    ]),
  },
};

describe.each(Object.entries(cases))('a redacted text in %s', (_, given) => {
  it.each(modes)('is redacted everywhere; mode %s', async (mode) => {
    const reply = await send(mode, redact, given);
    expect(reply).toContain('***');
    expect(reply).not.toMatch(/secret|"a se"|"sec|cret"/);
  });
});

it('a text that ends a stream in a window is not in native blocks before', async () => {
  const guardrail = { 'default.contains': { words: ['secret'], operator: 'none' }, deny: true };
  const claude = {
    provider: 'claude',
    plain: {},
    stream: messagesStream(['first words ', 'of the reply, ', 'a se', 'cret']),
  } as const;
  const reply = await send('window', guardrail, claude);
  expect(reply).toContain('"first ');
  expect(reply).not.toMatch(/"a se"|cret"/);
});

it('a reply that is not changed keeps its native blocks', async () => {
  const absent = { 'default.regexReplace': { rule: '/absent/g', redactText: '***' } };
  const reply = await send('buffer', absent, cases['native blocks of Claude'] as Case);
  expect(reply).toContain('"content_blocks":[{"index":0,"delta":{"text":"cret"}}]');
});
