import type { FakeRequest } from '../../../../core/test-kit/fake-exchange.ts';
import { chatReply } from '../../../../core/test-kit/provider-scripts.ts';

/** One kind of call: the client's request, and a valid response of the provider in pieces. */
export interface InferenceCall {
  readonly request: Partial<FakeRequest>;
  readonly good: readonly string[];
  readonly contentType: string;
}

const chat = { model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] };
const chunk = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const form = [
  '--b',
  'content-disposition: form-data; name="model"',
  '',
  'whisper-1',
  '--b',
  'content-disposition: form-data; name="file"; filename="a.wav"',
  'content-type: audio/wav',
  '',
  'RIFF',
  '--b--',
  '',
].join('\r\n');

/** The four kinds of calls. Strategies must treat them the same. */
export const inferenceCalls = {
  plain: {
    request: { body: chat },
    good: [JSON.stringify(chatReply('ok')).slice(0, 20), JSON.stringify(chatReply('ok')).slice(20)],
    contentType: 'application/json',
  },
  events: {
    request: { body: { ...chat, stream: true } },
    good: [chunk({ content: 'a' }, null), chunk({ content: 'b' }, null), chunk({}, 'stop'), 'data: [DONE]\n\n'],
    contentType: 'text/event-stream',
  },
  'pass-through': {
    request: { path: '/v1/anything', body: 'some bytes', headers: { 'content-type': 'text/plain' } },
    good: ['first ', 'second'],
    contentType: 'text/plain',
  },
  multipart: {
    request: {
      path: '/v1/audio/transcriptions',
      body: form,
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
    },
    good: ['{"text":', '"hello"}'],
    contentType: 'application/json',
  },
} satisfies Record<string, InferenceCall>;
