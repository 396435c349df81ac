import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { dataEvent, namedEvent } from '../../support/upstream/send-events.ts';

/** One kind of route: the request, the kind of reply, and the form of a reply that was cut off. */
export interface RouteKind {
  /** Absent = openai. */
  readonly provider?: 'anthropic';
  readonly path: string;
  readonly body: () => JsonObject | FormData | Uint8Array;
  /** A piece that the provider sends before it closes the connection, and its type. */
  readonly begun: { readonly type: string; readonly text: string };
  /**
   * The client's reply after an error. `whole`: replies are read whole, so the next target is called. `cut`: pass-through bytes
   * are cut. Otherwise a pattern of the last event of the stream.
   */
  readonly end: 'whole' | 'cut' | RegExp;
}

const messages = [{ role: 'user', content: 'hello' }];
const json = { type: 'application/json', text: '{"begun":' };
const audio = { type: 'audio/mpeg', text: 'ID3' };
const events = (text: string) => ({ type: 'text/event-stream', text });
const chunk = {
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content: 'a' } }],
};
const started = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  usage: { input_tokens: 1, output_tokens: 1 },
};
/** The error of formats whose events differ only in their data. */
const dataError = /^data: \{"error":\{"message":"[^"]+","type":"[^"]+","param":null,"code":"upstream_reset"\}\}$/;

function form(fields: Record<string, string>, file: string): () => FormData {
  return () => {
    const made = new FormData();
    for (const [name, value] of Object.entries(fields)) made.append(name, value);
    made.append(file, new Blob([Buffer.alloc(20_000, 7)]), 'file.bin');
    return made;
  };
}

export const routeKinds: Record<string, RouteKind> = {
  'a chat completion': { path: '/chat/completions', body: () => ({ model: 'm', messages }), begun: json, end: 'whole' },
  'a streamed chat completion': {
    path: '/chat/completions',
    body: () => ({ model: 'm', messages, stream: true }),
    begun: events(dataEvent(chunk)),
    end: dataError,
  },
  'a streamed completion': {
    path: '/completions',
    body: () => ({ model: 'm', prompt: 'hello', stream: true }),
    begun: events(dataEvent({ id: 'c', object: 'text_completion', created: 1, model: 'm', choices: [{ index: 0, text: 'a' }] })),
    end: dataError,
  },
  'a streamed message': {
    provider: 'anthropic',
    path: '/messages',
    body: () => ({ model: 'm', max_tokens: 5, messages, stream: true }),
    begun: events(namedEvent({ type: 'message_start', message: started })),
    end: /^event: error\ndata: \{"type":"error","error":\{"type":"api_error","message":"[^"]+","code":"upstream_reset"\}\}$/,
  },
  'a streamed response': {
    path: '/responses',
    body: () => ({ model: 'm', input: 'hello', stream: true }),
    begun: events(namedEvent({ type: 'response.created', sequence_number: 0, response: { id: 'r', object: 'response' } })),
    end: /^event: error\ndata: \{"type":"error","sequence_number":1,"code":"upstream_reset","message":"[^"]+","param":null,"error":\{"type":"upstream_error","code":"upstream_reset",[^}]+\}\}$/,
  },
  'speech as bytes': {
    path: '/audio/speech',
    body: () => ({ model: 'm', voice: 'v', input: 'hello' }),
    begun: audio,
    end: 'cut',
  },
  'a transcription': { path: '/audio/transcriptions', body: form({ model: 'm' }, 'file'), begun: json, end: 'whole' },
  'a streamed transcription': {
    path: '/audio/transcriptions',
    body: form({ model: 'm', stream: 'true' }, 'file'),
    begun: events(namedEvent({ type: 'transcript.text.delta', delta: 'a' })),
    end: dataError,
  },
  'an edited image': { path: '/images/edits', body: form({ model: 'm', prompt: 'p' }, 'image'), begun: json, end: 'whole' },
  'a streamed image': {
    path: '/images/generations',
    body: () => ({ model: 'm', prompt: 'p', stream: true }),
    begun: events(namedEvent({ type: 'image_generation.partial_image', b64_json: 'AA==', partial_image_index: 0 })),
    end: dataError,
  },
  'a pass-through of JSON': { path: '/proxy/echo', body: () => ({ any: 'thing' }), begun: json, end: 'cut' },
  'a pass-through of a form': { path: '/proxy/echo', body: form({ a: 'b' }, 'file'), begun: json, end: 'cut' },
  'a pass-through of audio': { path: '/proxy/echo', body: () => Buffer.alloc(100_000, 9), begun: audio, end: 'cut' },
  'a pass-through of events': {
    path: '/proxy/chat/completions',
    body: () => ({ model: 'm', messages, stream: true }),
    begun: events(dataEvent(chunk)),
    end: 'cut',
  },
};
