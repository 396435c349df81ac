import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';
import type { RichReply } from '../rich-replies.ts';
import { data } from '../wires/wire.ts';

const provider = { id: 'google', name: 'google', model: 'gemini-3.8-flash', settings: {} };
const usageMetadata = { promptTokenCount: 20, candidatesTokenCount: 12, thoughtsTokenCount: 5, totalTokenCount: 37 };
const head = { responseId: 'r1', modelVersion: 'gemini-3.8-flash' };

/** `pieces`: the parts of each event, if they differ from those of the plain reply. */
function reply(
  name: string,
  parts: readonly JsonObject[],
  more: JsonObject = {},
  pieces = parts.map((part) => [part]),
): RichReply {
  const last = { finishReason: 'STOP', ...more };
  return {
    name: `gemini-${name}`,
    provider,
    plain: { ...head, candidates: [{ content: { role: 'model', parts }, ...last }], usageMetadata },
    events: [
      ...pieces.map((each) => ({ ...head, candidates: [{ content: { role: 'model', parts: each } }] })),
      { ...head, candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, ...last }], usageMetadata },
    ].map(data),
  };
}

const grounding = {
  webSearchQueries: ['capital of Switzerland'],
  groundingChunks: [
    { web: { uri: 'https://example.com/bern', title: 'Bern' } },
    { retrievedContext: { uri: 'https://example.com/almanac', title: 'Almanac', text: 'Since 1848.' } },
  ],
  groundingSupports: [
    { segment: { startIndex: 9, endIndex: 13, text: 'Bern' }, groundingChunkIndices: [0], confidenceScores: [0.9] },
  ],
};
const call = (more: JsonObject): JsonObject => ({ functionCall: more });
const png = { mimeType: 'image/png', data: 'iVBORw0KGgo=' };

/** https://ai.google.dev/api/generate-content and `…/docs/google-search`, `…/docs/thought-signatures`, 2026-11-22. */
export const geminiReplies: readonly RichReply[] = [
  reply('grounding', [{ text: 'Zürich? ' }, { text: 'Bern it is.' }], {
    groundingMetadata: grounding,
    safetyRatings: [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'NEGLIGIBLE' }],
  }),
  reply('thoughts-and-image', [
    { text: 'I should draw.', thought: true },
    { text: 'Here: ', thoughtSignature: 'U2lnLXRleHQ=' },
    { inlineData: png, thoughtSignature: 'U2lnLWltYWdl' },
  ]),
  reply('signed-parts', [
    { text: 'I look. ', thoughtSignature: 'U2lnLXRleHQ=' },
    { functionCall: { id: 'c1', name: 'get_weather', args: { city: 'Bern' } } },
    { functionCall: { id: 'c2', name: 'get_place', args: {} }, thoughtSignature: 'U2lnLWNhbGw=' },
  ]),
  reply('server-tools', [
    { toolCall: { id: 't1', toolType: 'GOOGLE_SEARCH_WEB', args: { queries: ['Bern'] } }, thoughtSignature: 'U2lnLXRvb2w=' },
    { toolResponse: { id: 't1', toolType: 'GOOGLE_SEARCH_WEB', response: { found: 1 } } },
    { executableCode: { language: 'PYTHON', code: 'print(1)' } },
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1\n' } },
    { text: 'Bern.' },
  ]),
  reply('part-of-tomorrow', [{ hologram: { shape: 'cube' } }, { text: 'Look.' }]),
  reply(
    'call-in-pieces',
    [
      { functionCall: { id: 'c1', name: 'cook', args: { dish: 'Rösti', steps: [{ n: 1 }, { n: 2 }], raw: false } } },
      { functionCall: { id: 'c2', name: 'eat', args: {} } },
    ],
    {},
    [
      [call({ id: 'c1', name: 'cook', willContinue: true })],
      [call({ partialArgs: [{ jsonPath: '$.dish', stringValue: 'Rö', willContinue: true }], willContinue: true })],
      [call({ partialArgs: [{ jsonPath: '$.dish', stringValue: 'sti' }], willContinue: true })],
      [call({ partialArgs: [{ jsonPath: '$.steps[0].n', numberValue: 1 }], willContinue: true })],
      [
        call({
          partialArgs: [
            { jsonPath: '$.steps[1].n', numberValue: 2 },
            { jsonPath: '$.raw', boolValue: false },
          ],
          willContinue: true,
        }),
      ],
      [call({})],
      [call({ id: 'c2', name: 'eat', willContinue: true })],
      [call({})],
    ],
  ),
];
