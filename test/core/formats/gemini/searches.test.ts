import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { geminiStreamReader, usageOfReply } from '../../../../core/formats/gemini/usage.ts';

const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
const place = (uri: string) => ({ maps: { uri, title: 'Trattoria', placeId: 'places/1' } });
const grounded = (...webSearchQueries: unknown[]) => ({ finishReason: 'STOP', groundingMetadata: { webSearchQueries } });

describe('searches of Gemini', () => {
  it.each<[string, unknown, object]>([
    ['no candidates', undefined, {}],
    ['no grounding', [{ finishReason: 'STOP' }], {}],
    ['grounding without queries', [{ groundingMetadata: {} }], {}],
    ['no list', [{ groundingMetadata: { webSearchQueries: 'weather' } }], {}],
    ['empty queries', [grounded('', null)], {}],
    ['a query longer than any that is sent', [grounded('a'.repeat(10_001))], {}],
    ['queries', [grounded('weather', 'rain', '')], { web_search: 2, grounded_prompts: 1 }],
    ['queries of several candidates', [grounded('weather'), grounded('weather', 'rain')], { web_search: 2, grounded_prompts: 1 }],
    ['sources of the web', [{ groundingMetadata: { groundingChunks: [{ web: { uri: 'https://a.example' } }] } }], {}],
    ['places of Google Maps', [{ groundingMetadata: { groundingChunks: [place('a'), place('b')] } }], { maps_prompts: 1 }],
    [
      'queries and places',
      [{ groundingMetadata: { webSearchQueries: ['rain'], groundingChunks: [place('a')] } }],
      { web_search: 1, grounded_prompts: 1, maps_prompts: 1 },
    ],
  ])('are counted in a plain reply: %s', (_name, candidates, units) => {
    const usage = usageOfReply({ candidates, usageMetadata });
    expect(usage).toMatchObject({ inputTokens: 10, raw: usageMetadata });
    expect(usage?.units).toEqual(units);
  });

  it('are counted once in a stream that repeats them', () => {
    const reader = geminiStreamReader('google');
    const push = (data: JsonObject) => reader.push({ event: null, data });
    push({ candidates: [{ groundingMetadata: { webSearchQueries: ['weather'], groundingChunks: [place('a')] } }] });
    push({ candidates: [grounded('weather', 'rain')], usageMetadata });
    expect(reader.usage()).toMatchObject({
      units: { web_search: 2, grounded_prompts: 1, maps_prompts: 1 },
      raw: usageMetadata,
    });
  });
});
