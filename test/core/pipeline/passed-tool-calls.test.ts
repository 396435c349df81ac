import { describe, expect, it } from 'vitest';
import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { createHarness } from '../../../core/test-kit/pipeline-harness.ts';

async function recordOf(path: string, reply: string, type = 'application/json'): Promise<RequestRecord> {
  const harness = createHarness();
  harness.script((_call, handler) => {
    handler.onHead(200, ['content-type', type]);
    const bytes = Buffer.from(reply);
    for (let at = 0; at < bytes.length; at += 7) handler.onData(bytes.subarray(at, at + 7));
    handler.onEnd();
  });
  await harness.send({
    method: 'POST',
    path: `/v1${path}`,
    body: { contents: [], input: 'hi' },
    headers: { 'x-svc-provider': '@one' },
  });
  return harness.records[0] as RequestRecord;
}

const events = 'text/event-stream';
const sse = (...items: readonly object[]): string => items.map((item) => `data: ${JSON.stringify(item)}\n\n`).join('');
const usageMetadata = { promptTokenCount: 12, candidatesTokenCount: 5, totalTokenCount: 17 };
const grounded = (...webSearchQueries: string[]) => [{ groundingMetadata: { webSearchQueries } }];
const places = [
  { groundingMetadata: { groundingChunks: [{ web: { uri: 'a' } }, { maps: { uri: 'b' } }, { maps: { uri: 'c' } }] } },
];
const usage = { input_tokens: 9, output_tokens: 6 };
const output = ['reasoning', 'file_search_call', 'file_search_call', 'message'].map((type) => ({ type }));

describe('tools in pass-through replies', () => {
  it.each<[string, string, string, string | undefined, object, object]>([
    [
      'searches of Gemini',
      '/models/gemini-x:generateContent',
      JSON.stringify({ candidates: grounded('weather in Rome', 'rain'), usageMetadata }),
      undefined,
      { web_search: 2, grounded_prompts: 1 },
      usageMetadata,
    ],
    [
      'searches in a stream of Gemini that repeats them',
      '/models/gemini-x:streamGenerateContent',
      sse({ candidates: grounded('rain'), usageMetadata: {} }, { candidates: grounded('rain', 'snow', ''), usageMetadata }),
      events,
      { web_search: 2, grounded_prompts: 1 },
      usageMetadata,
    ],
    [
      'places of Google Maps',
      '/models/gemini-x:generateContent',
      JSON.stringify({ candidates: places, usageMetadata }),
      undefined,
      { maps_prompts: 1 },
      usageMetadata,
    ],
    [
      'places of Google Maps in a stream',
      '/models/gemini-x:streamGenerateContent',
      sse({ candidates: places }, { candidates: grounded('rain'), usageMetadata }),
      events,
      { web_search: 1, grounded_prompts: 1, maps_prompts: 1 },
      usageMetadata,
    ],
    [
      'runs of code',
      '/proxy/responses',
      JSON.stringify({ output: [{ type: 'code_interpreter_call' }, ...output], usage }),
      undefined,
      { file_search: 2, code_interpreter: 1 },
      usage,
    ],
    ['searches of files', '/proxy/responses', JSON.stringify({ output, usage }), undefined, { file_search: 2 }, usage],
    [
      'searches of files in a stream',
      '/proxy/responses',
      sse({ type: 'response.created', response: { output: [] } }, { type: 'response.completed', response: { output, usage } }),
      events,
      { file_search: 2 },
      usage,
    ],
    [
      'searches of files among hundreds of items',
      '/proxy/responses',
      JSON.stringify({ output: Array.from({ length: 80 }).flatMap(() => output), usage }),
      undefined,
      { file_search: 160 },
      usage,
    ],
    [
      'searches of Gemini in hundreds of events',
      '/models/gemini-x:streamGenerateContent',
      sse(...Array.from({ length: 200 }, (_, at) => ({ candidates: grounded(`query ${at >> 1}`), usageMetadata }))),
      events,
      { web_search: 100, grounded_prompts: 1 },
      usageMetadata,
    ],
  ])('are counted: %s', async (_name, path, reply, type, units, rawUsage) => {
    // The queries of a user stay out of the record.
    expect(await recordOf(path, reply, type)).toMatchObject({ usageEstimated: false, media: { units }, rawUsage });
    expect((await recordOf(path, reply, type)).rawUsage).toEqual(rawUsage);
  });

  it('are not in the counts of a reply in another format', async () => {
    const counts = { prompt_tokens: 9, completion_tokens: 6 };
    const reply = JSON.stringify({ candidates: grounded('rain'), output, usage: counts });
    expect((await recordOf('/proxy/chat/completions', reply)).rawUsage).toEqual(counts);
  });

  it('are counted although the usage has a type too', async () => {
    const reply = JSON.stringify({ output, usage: { ...usage, type: 'tokens' } });
    expect((await recordOf('/proxy/responses', reply)).media?.units).toEqual({ file_search: 2 });
  });
});
