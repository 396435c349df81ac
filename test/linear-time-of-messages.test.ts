import { expect, it } from 'vitest';
import type { OperationCall } from '../core/contract/provider/provider.ts';
import { decodeBodySync } from '../core/contract/values/bodies/content-decoder.ts';
import { partsReader } from '../core/formats/gemini/chat/reply-parts.ts';
import type { ParsedRequest } from '../core/http/read-request.ts';
import { readWebSocketOffer } from '../core/http/web-socket.ts';
import { reportsLostSession } from '../core/mcp/sessions/lost-session.ts';
import { amongNames } from '../core/model-tools/tool-names.ts';
import { EventStream } from '../core/pipeline/attempt/event-stream.ts';
import { RepeatedEvents } from '../core/pipeline/attempt/repeated-events.ts';
import { replyTo } from '../core/providers/mock/chat-reply.ts';
import { type MockBehaviour, parseModelName } from '../core/providers/mock/model-name.ts';
import { claimIssues } from '../plugins/guardrails/checks/jwt/claims.ts';
import { HeldStream } from '../plugins/guardrails/held-stream.ts';

/**
 * Work on the messages of clients, providers, MCP servers and agents takes linear time, as the work in `linear-time.test.ts` does. Work in
 * quadratic time would exceed the time limit of the tests by far.
 */
const n = 400_000;
const timeout = 20_000;

/** A stream of Responses with one text, whose end comes this many times. */
function responsesEvents(text: string, ends: number): object[] {
  const part = { output_index: 0, content_index: 0 };
  const output = [{ type: 'message', content: [{ type: 'output_text', text }] }];
  return [
    { type: 'response.output_text.delta', ...part, delta: text },
    ...Array.from({ length: ends }, () => ({ type: 'response.output_text.done', ...part, text: '' })),
    { type: 'response.completed', response: { output } },
  ];
}

/** A stream of chat with one text, as many empty chunks that claim to have all text so far, and its end. */
function chatEvents(text: string, chunks: number): object[] {
  const choice = { index: 0, delta: {} };
  return [
    { choices: [{ ...choice, delta: { content: text } }] },
    ...Array.from({ length: chunks }, () => ({ choices: [{ ...choice, message: { content: '' } }] })),
    { choices: [{ ...choice, finish_reason: 'stop' }] },
  ];
}

function heldStream(format: 'chat' | 'responses', events: readonly object[]): HeldStream {
  return new HeldStream(format, events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
}

/** Returns the stream with another letter in its text; null if it cannot be written. */
function rewritten(stream: HeldStream): string | null {
  return stream.withBody(JSON.parse(JSON.stringify(stream.body).replaceAll('aa', 'bb')));
}

/** A call of a Gemini model. */
function geminiCall(): OperationCall {
  return { model: 'gemini-2.5-flash', dropped: [], adapted: [], strict: true, params: {} } as unknown as OperationCall;
}

it.each<[string, () => unknown]>([
  [
    'grounded replies',
    () => {
      const groundingSupports = Array.from({ length: n / 8 }, (_, i) => ({
        segment: { startIndex: i, endIndex: n + i, text: 'aaaaaaaab' },
        groundingChunkIndices: [0],
      }));
      const groundingMetadata = { groundingChunks: [{ web: { uri: 'http://a.example', title: 'a' } }], groundingSupports };
      const content = { parts: [{ text: `ä${'a'.repeat(n)}` }] };
      expect(partsReader(geminiCall()).read({ content, groundingMetadata }).annotations).toHaveLength(n / 8);
    },
  ],
  [
    'streams with a citation in each event',
    () => {
      const reader = partsReader(geminiCall());
      const content = { parts: [{ text: 'Zürich '.repeat(4) }] };
      let annotations: readonly object[] = [];
      for (let i = 0; i < n / 16; i++) {
        const citations = [{ uri: 'http://a.example', startIndex: 32 * i, endIndex: 32 * i + 7 }];
        annotations = reader.read({ content, citationMetadata: { citations } }).annotations;
      }
      const start = 28 * (n / 16 - 1);
      expect(annotations).toMatchObject([{ url_citation: { start_index: start, end_index: start + 6 } }]);
    },
  ],
  [
    'texts that the mock provider cuts before much white space',
    () => {
      const content = ` a  b${' '.repeat(n)}`;
      const { text } = replyTo({ messages: [{ role: 'user', content }], max_tokens: 1 }, parseModelName('echo') as MockBehaviour);
      expect(text).toBe(' a');
    },
  ],
  ['errors of MCP servers with many spaces', () => expect(reportsLostSession(`bad request${' '.repeat(n)}x`, 1)).toBe(false)],
  [
    'events of many unused values in one line',
    () => new RepeatedEvents(['text']).learn(`data: {${Array.from({ length: n / 2 }, () => '"text":"a"').join()}}\n\n`),
  ],
  [
    'tokens of many roles',
    () => {
      const values = Array.from({ length: 20 }, (_, i) => `^admin-[a-z]+${i}$`);
      const rules = {
        requiredClaims: [],
        claimValues: { roles: { values, matchType: 'regex' as const } },
        headerPayloadMatch: [],
      };
      const roles = Array.from({ length: n / 4 }, (_, i) => `role${i}`);
      expect(claimIssues({ roles }, rules, () => undefined).issues).toHaveLength(1);
    },
  ],
  [
    'held streams whose events have a changed member of their own each',
    () => {
      const choices = [{ index: 0, delta: { content: 'b' } }];
      const events = Array.from({ length: n / 8 }, (_, i) => ({ choices, [`member${i}`]: 'an aa' }));
      expect(rewritten(heldStream('chat', events))).toContain('"member1":"an bb"');
    },
  ],
  ['names of codings with much white space', () => decodeBodySync(Buffer.from('a'), `${'\u00a0'.repeat(n)}x`, 1)],
  [
    'names of protocols of a WebSocket',
    () => {
      const headers = ['sec-websocket-protocol', Array.from({ length: n }, (_, i) => `p${i}`).join(', ')];
      const values: Record<string, string> = { upgrade: 'websocket', connection: 'upgrade', 'sec-websocket-version': '13' };
      const header = (name: string) => values[name] ?? 'a';
      const request = { headers, header, bodyLength: 0, error: null } as unknown as ParsedRequest;
      expect(readWebSocketOffer(request, {} as never)).not.toBeNull();
      expect(request.webSocketProtocols).toHaveLength(n);
    },
  ],
  [
    'names of allowed tools of an MCP server',
    () => {
      const isAllowed = amongNames(
        Array.from({ length: n }, (_, i) => `tool${i}`),
        'tools[0].allowed_tools',
      );
      let found = 0;
      for (let i = n / 2; i < (3 * n) / 2; i++) if (isAllowed(`tool${i}`)) found++;
      expect(found).toBe(n / 2);
    },
  ],
])('%s take linear time', { timeout }, (_, run) => {
  expect(run).not.toThrow();
});

it('held streams that repeat a text in short events are not written', { timeout }, () => {
  const text = 'a'.repeat(n);
  expect(rewritten(heldStream('responses', responsesEvents(text, 4)))).toContain('b'.repeat(n));
  expect(rewritten(heldStream('responses', responsesEvents(text, n / 100)))).toBeNull();
  expect(rewritten(heldStream('chat', chatEvents(text, 4)))).toContain('b'.repeat(n));
  expect(rewritten(heldStream('chat', chatEvents(text, n / 100)))).toBeNull();
});

it('events of streams with many empty objects are not parsed', () => {
  const reader = { push: () => {}, usage: () => null, complete: () => true };
  const push = (objects: number) =>
    new EventStream(reader, null).push(Buffer.from(`data: {"a":[${'{},'.repeat(objects)}{}]}\n\n`));
  expect(() => push(100_000)).not.toThrow();
  expect(() => push(400_000)).toThrow('A stream event of the provider has too many values');
});
