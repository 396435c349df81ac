import { patternBytes } from '../samples/pattern-bytes.ts';
import type { Exchange } from './fake-upstream.ts';
import { namedEvent, sendEvents, sendJson } from './send-events.ts';

/** The audio of every speech reply. */
export const spokenBytes = patternBytes(300_000);
export const onePixelPng = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const imageUsage = {
  total_tokens: 4210,
  input_tokens: 50,
  output_tokens: 4160,
  input_tokens_details: { text_tokens: 10, image_tokens: 40 },
};

type MediaReply = (exchange: Exchange, fields: Record<string, unknown>) => void | Promise<void>;

/** OpenAI's routes other than text, by the end of the path, with replies in their real format. */
const replies: readonly (readonly [path: string, reply: MediaReply])[] = [
  ['/audio/speech', replySpeech],
  ['/audio/transcriptions', replyTranscription],
  ['/audio/translations', (exchange, fields) => replyText(exchange, fields, 'In English')],
  ['/images/generations', (exchange, fields) => replyImages(exchange, fields, 'image_generation')],
  ['/images/edits', (exchange, fields) => replyImages(exchange, fields, 'image_edit')],
  ['/images/variations', (exchange, fields) => replyImages(exchange, fields, 'image_generation')],
  ['/moderations', replyModeration],
];

/** Replies if the path is one of these routes. Returns true if it has replied. */
export async function replyMedia(exchange: Exchange): Promise<boolean> {
  const { request } = exchange;
  const reply = request.method === 'POST' ? replies.find(([path]) => request.path.endsWith(path))?.[1] : undefined;
  if (!reply) return false;
  await reply(exchange, await fieldsOf(exchange));
  return true;
}

/** Returns the JSON body, or the fields of the form with `files` for its files. */
async function fieldsOf({ request }: Exchange): Promise<Record<string, unknown>> {
  const type = request.header('content-type') ?? '';
  if (!type.startsWith('multipart/form-data')) return request.json();
  const form = await new Response(new Uint8Array(request.body), { headers: { 'content-type': type } }).formData();
  const fields: Record<string, unknown> = { files: [...form.values()].filter((value) => typeof value !== 'string') };
  for (const [name, value] of form) if (typeof value === 'string') fields[name] = value;
  return fields;
}

async function replySpeech({ response }: Exchange, fields: Record<string, unknown>): Promise<void> {
  if (fields.stream_format === 'sse') {
    const audio = Buffer.from(spokenBytes.subarray(0, 30)).toString('base64');
    return sendEvents(response, [
      namedEvent({ type: 'speech.audio.delta', audio }),
      namedEvent({ type: 'speech.audio.done', usage: { input_tokens: 4, output_tokens: 101, total_tokens: 105 } }),
    ]);
  }
  response.writeHead(200, { 'content-type': 'audio/mpeg', 'x-request-id': 'req_fake' });
  for (let at = 0; at < spokenBytes.length; at += 10_000) response.write(spokenBytes.subarray(at, at + 10_000));
  response.end();
}

async function replyTranscription(exchange: Exchange, fields: Record<string, unknown>): Promise<void> {
  const { response } = exchange;
  if (fields.stream !== 'true') return replyText(exchange, fields, 'Good morning');
  const usage = { type: 'tokens', input_tokens: 14, input_token_details: { text_tokens: 2, audio_tokens: 12 }, output_tokens: 5 };
  await sendEvents(response, [
    namedEvent({ type: 'transcript.text.delta', delta: 'Good ' }),
    namedEvent({ type: 'transcript.text.delta', delta: 'morning' }),
    namedEvent({ type: 'transcript.text.done', text: 'Good morning', usage }),
  ]);
}

function replyText({ response }: Exchange, fields: Record<string, unknown>, text: string): void {
  const format = fields.response_format ?? 'json';
  if (format === 'text' || format === 'srt' || format === 'vtt') {
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
    response.end(format === 'text' ? `${text}\n` : `1\n00:00:00,000 --> 00:00:02,400\n${text}\n`);
    return;
  }
  const usage = { type: 'duration', seconds: 3 };
  sendJson(response, 200, format === 'verbose_json' ? { task: 'transcribe', duration: 2.4, text, usage } : { text, usage });
}

async function replyImages({ response }: Exchange, fields: Record<string, unknown>, kind: string): Promise<void> {
  if (fields.stream === true || fields.stream === 'true') {
    return sendEvents(response, [
      namedEvent({ type: `${kind}.partial_image`, b64_json: onePixelPng, partial_image_index: 0 }),
      namedEvent({ type: `${kind}.completed`, b64_json: onePixelPng, usage: imageUsage }),
    ]);
  }
  const data = Array.from({ length: Number(fields.n ?? 1) }, () => ({ b64_json: onePixelPng }));
  sendJson(response, 200, { created: 1_760_000_000, data, usage: imageUsage });
}

function replyModeration({ response }: Exchange, fields: Record<string, unknown>): void {
  const results = [{ flagged: true, categories: { violence: true }, category_scores: { violence: 0.98 } }];
  sendJson(response, 200, { id: 'modr-1', model: fields.model ?? 'omni-moderation-latest', results });
}
