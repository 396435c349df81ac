import type { JsonObject } from '../../contract/values/json/json.ts';

/** A transparent image of one pixel. */
const onePixelPng = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export type MockMedia = 'speech' | 'images' | 'moderations' | 'rerank';

/** Returns the JSON reply of the routes for images, moderations and reranking. It depends only on the request. */
export function mediaReply(kind: Exclude<MockMedia, 'speech'>, body: JsonObject, nowMs: number): JsonObject {
  if (kind === 'images') {
    const count = typeof body.n === 'number' && body.n >= 1 && body.n <= 10 ? Math.floor(body.n) : 1;
    const data = Array.from({ length: count }, () => ({ b64_json: onePixelPng }));
    return { created: Math.floor(nowMs / 1000), data };
  }
  if (kind === 'moderations') {
    const inputs = Array.isArray(body.input) ? body.input : [body.input];
    return {
      id: 'modr-mock',
      model: body.model,
      results: inputs.map(() => ({
        flagged: false,
        categories: ofEachCategory(false),
        category_scores: ofEachCategory(0),
        category_applied_input_types: ofEachCategory(['text']),
      })),
    };
  }
  const documents = Array.isArray(body.documents) ? body.documents : [];
  const topN = typeof body.top_n === 'number' ? body.top_n : documents.length;
  const results = documents.slice(0, Math.max(0, topN)).map((_, index) => ({ index, relevance_score: 1 / (index + 1) }));
  return { results, meta: { billed_units: { search_units: 1 } } };
}

/** The categories of OpenAI, all of which its clients expect. */
const categories = [
  ...['harassment', 'harassment/threatening', 'hate', 'hate/threatening', 'illicit', 'illicit/violent', 'self-harm'],
  ...['self-harm/instructions', 'self-harm/intent', 'sexual', 'sexual/minors', 'violence', 'violence/graphic'],
];

function ofEachCategory(value: unknown): JsonObject {
  return Object.fromEntries(categories.map((name) => [name, value]));
}

/** A tenth of a second of silence: WAV, 8 kHz, 8 bits, one channel. */
export function silence(): Uint8Array {
  const samples = 800;
  const wav = Buffer.alloc(44 + samples, 0x80);
  wav.write('RIFF', 0);
  wav.writeUInt32LE(36 + samples, 4);
  wav.write('WAVEfmt ', 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(8000, 24);
  wav.writeUInt32LE(8000, 28);
  wav.writeUInt16LE(1, 32);
  wav.writeUInt16LE(8, 34);
  wav.write('data', 36);
  wav.writeUInt32LE(samples, 40);
  return wav;
}

/** Returns a transcript that states the size of the audio. `format` is the `response_format` of the request. */
export function transcript(bytes: number, format: unknown): JsonObject {
  const text = `${bytes} bytes were heard`;
  return format === 'verbose_json' ? { language: 'english', duration: 1, text, segments: [] } : { text };
}

/** Returns the reply of the model list. */
export function modelsReply(): JsonObject {
  return { object: 'list', data: [{ id: 'echo', object: 'model', created: 0, owned_by: 'mock' }] };
}
