import { toFile } from 'openai';
import { expect } from 'vitest';
import { patternBytes } from '../../support/samples/pattern-bytes.ts';
import { onePixelPng, spokenBytes } from '../../support/upstream/openai-media-replies.ts';
import { collect, type RouteCase } from './route-case.ts';

const audio = () => toFile(patternBytes(5_000), 'speech.mp3', { type: 'audio/mpeg' });
const png = () => toFile(Buffer.from(onePixelPng, 'base64'), 'image.png', { type: 'image/png' });
const speech = { model: 'gpt-4o-mini-tts', voice: 'alloy', input: 'Good morning' };
const image = { b64_json: onePixelPng };
const picture = { model: 'gpt-image-1', prompt: 'a lighthouse' };

/** Audio, images, and the routes around them that take JSON. */
export const mediaCases: Record<string, readonly RouteCase[]> = {
  'POST /audio/speech': [
    {
      by: 'openai, bytes',
      send: async ({ openai }) => Buffer.from(await (await openai.audio.speech.create(speech)).arrayBuffer()).equals(spokenBytes),
      expected: true,
    },
    {
      by: 'openai, events',
      send: async ({ openai }) => (await openai.audio.speech.create({ ...speech, stream_format: 'sse' })).text(),
      expected: expect.stringMatching(/speech\.audio\.delta[\s\S]*speech\.audio\.done/),
    },
  ],
  'POST /audio/transcriptions': [
    {
      by: 'openai',
      send: async ({ openai }) => openai.audio.transcriptions.create({ file: await audio(), model: 'whisper-1' }),
      expected: { text: 'Good morning' },
    },
    {
      by: 'openai, subtitles',
      send: async ({ openai }) =>
        openai.audio.transcriptions.create({ file: await audio(), model: 'whisper-1', response_format: 'srt' }),
      expected: expect.stringContaining('Good morning\n'),
    },
    {
      by: 'openai, streamed',
      send: async ({ openai }) =>
        collect(await openai.audio.transcriptions.create({ file: await audio(), model: 'whisper-1', stream: true })),
      expected: [{ delta: 'Good ' }, { delta: 'morning' }, { type: 'transcript.text.done' }],
    },
  ],
  'POST /audio/translations': [
    {
      by: 'openai',
      send: async ({ openai }) => openai.audio.translations.create({ file: await audio(), model: 'whisper-1' }),
      expected: { text: 'In English' },
    },
  ],
  'POST /images/generations': [
    { by: 'openai', send: ({ openai }) => openai.images.generate(picture), expected: { data: [image] } },
    {
      by: 'openai, streamed',
      send: async ({ openai }) => collect(await openai.images.generate({ ...picture, stream: true, partial_images: 1 })),
      expected: [{ type: 'image_generation.partial_image' }, { type: 'image_generation.completed' }],
    },
  ],
  'POST /images/edits': [
    {
      by: 'openai, a form',
      send: async ({ openai }) => openai.images.edit({ ...picture, image: [await png(), await png()], mask: await png() }),
      expected: { data: [image] },
    },
    {
      by: 'openai, a form, streamed',
      send: async ({ openai }) => collect(await openai.images.edit({ ...picture, image: await png(), stream: true })),
      expected: [{ type: 'image_edit.partial_image' }, { type: 'image_edit.completed' }],
    },
    {
      by: 'openai, JSON',
      send: ({ openai }) =>
        openai.post('/images/edits', { body: { ...picture, images: [{ image_url: 'https://a.example/i.png' }] } }),
      expected: { data: [image] },
    },
  ],
  'POST /images/variations': [
    {
      by: 'openai',
      send: async ({ openai }) => openai.images.createVariation({ image: await png(), n: 2 }),
      expected: { data: [image, image] },
    },
  ],
  'POST /moderations': [
    {
      by: 'openai',
      send: ({ openai }) => openai.moderations.create({ model: 'omni-moderation-latest', input: 'I will hurt you' }),
      expected: { results: [{ flagged: true }] },
    },
  ],
  'POST /decisions': [
    {
      by: 'openai',
      reply: {
        model: 'd-1',
        answers: [{ type: 'predicate', name: 'urgent', probability: 0.8 }],
        usage: { input_tokens: 5, output_tokens: 0, total_tokens: 5 },
      },
      send: ({ openai }) =>
        openai.decisions.create({
          model: 'd-1',
          input: 'My payouts fail.',
          questions: [{ type: 'predicate', name: 'urgent', instructions: 'Is it urgent?' }],
        } as never),
      expected: { answers: [{ name: 'urgent', probability: 0.8 }] },
    },
  ],
  // None of the official clients supports the routes below.
  'POST /rerank': [
    {
      by: 'plain HTTP',
      provider: 'coh',
      at: '/v2/rerank',
      reply: { id: 'r-1', results: [{ index: 1, relevance_score: 0.9 }], meta: { billed_units: { search_units: 1 } } },
      send: ({ plain }) => plain('POST', '/rerank', { model: 'rerank-v4', query: 'q', documents: ['a', 'b'], top_n: 1 }),
      expected: { results: [{ index: 1, relevance_score: 0.9 }] },
    },
  ],
  'POST /ocr': [
    {
      by: 'plain HTTP',
      provider: 'mis',
      reply: { pages: [{ index: 0, markdown: '# Title' }], model: 'ocr-1', usage_info: { pages_processed: 1 } },
      send: ({ plain }) =>
        plain('POST', '/ocr', {
          model: 'ocr-1',
          document: { type: 'document_url', document_url: 'https://a.example/a.pdf' },
        }),
      expected: { pages: [{ markdown: '# Title' }] },
    },
  ],
};
