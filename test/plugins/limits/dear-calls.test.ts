import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { chatReply, replyWith } from '../../../core/test-kit/pipeline-harness.ts';
import { body, budgetOf, start } from './limits-harness.ts';

const usualRates = { input: 10, output: 100, cacheRead: 1 };

const clientFunction = { type: 'function', function: { name: 'google_search', parameters: { type: 'object', properties: {} } } };

describe('a budget of cost', () => {
  it.each([
    ['the usual price', 2_900, 200],
    ['the price of long calls', 3_100, 412],
  ])('reserves %s for a call of its size', async (_what, characters, status) => {
    // 967 or 1,034 tokens of input for 10 or 20 micro-USD each, and 10 of output for 100 or 200 each.
    const { ask, ledger } = start({ usageLimits: budgetOf(0.015, 'cost') });
    ledger.rates.set('gpt-5', { ...usualRates, sizes: [{ above: 1_000, input: 20, output: 200, cacheRead: 2 }] });
    expect((await ask({}, { ...body, messages: [{ role: 'user', content: 'x'.repeat(characters) }] })).status).toBe(status);
  });

  it('reserves the price of long calls in the service tier that is asked for', async () => {
    const long = { ...body, service_tier: 'priority', messages: [{ role: 'user', content: 'x'.repeat(3_100) }] };
    const statuses = [0.04, 0.05].map(async (limit) => {
      const { ask, ledger } = start({ usageLimits: budgetOf(limit, 'cost') });
      const tiers = { priority: { input: 20, output: 200, cacheRead: 2 } };
      ledger.rates.set('gpt-5', { ...usualRates, tiers, sizes: [{ above: 1_000, input: 20, output: 200, cacheRead: 2 }] });
      return (await ask({}, long)).status;
    });
    // About 1,040 × 40 + 10 × 400 micro-USD.
    expect(await Promise.all(statuses)).toEqual([412, 200]);
  });

  it('is charged with the price of long calls until their record is settled', async () => {
    const { ask, ledger, records, script } = start({ usageLimits: budgetOf(1, 'cost') });
    ledger.rates.set('gpt-5', { ...usualRates, sizes: [{ above: 1_000, input: 20, output: 200, cacheRead: 2 }] });
    const usage = { prompt_tokens: 2_000, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 500 } };
    script(replyWith(200, { ...chatReply('hello'), usage }));
    await ask();
    expect(records[0]?.reservations).toMatchObject([{ units: 1_500 * 20 + 500 * 2 + 5 * 200 }]);
  });

  it.each<[string, JsonObject, number]>([
    ['no tools', {}, 200],
    ['a search of OpenAI', { tools: [{ type: 'web_search_preview' }] }, 412],
    ['a search of a chat model', { web_search_options: {} }, 412],
    ['a search of Gemini', { tools: [{ google_search: {} }] }, 412],
    ['a search of Gemini that a function names', { tools: [{ type: 'function', function: { name: 'googleSearch' } }] }, 412],
    ['one search in files, which costs less', { tools: [{ type: 'file_search' }] }, 200],
    ['two searches in files', { tools: [{ type: 'file_search' }, { type: 'file_search' }] }, 412],
    ['runs of code', { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }, 412],
    ['places of Google Maps', { tools: [{ googleMaps: {} }] }, 412],
    ['a function of the client that has the name of one', { tools: [clientFunction] }, 200],
    ['a function of the client', { tools: [{ type: 'function', function: { name: 'web_search' } }] }, 200],
  ])('reserves calls of tools that a provider may run: %s', async (_what, members, status) => {
    const { ask, ledger } = start({ usageLimits: budgetOf(0.01, 'cost') });
    const searches = { web_search: 10_000, file_search: 6_000, code_interpreter: 30_000, maps_prompts: 25_000 };
    ledger.rates.set('gpt-5', { input: 1, output: 1, cacheRead: 0, searches });
    expect((await ask({}, { ...body, ...members })).status).toBe(status);
  });

  it.each([
    [3, 200],
    [4, 412],
  ])('reserves as many searches as a tool states: %i', async (max_uses, status) => {
    const { ask, ledger } = start({ usageLimits: budgetOf(0.035, 'cost') });
    ledger.rates.set('gpt-5', { input: 1, output: 1, cacheRead: 0, searches: { web_search: 10_000 } });
    expect((await ask({}, { ...body, tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses }] })).status).toBe(
      status,
    );
  });

  it.each<[string, string, JsonObject]>([
    ['quality of an image', '/v1/images/generations', { prompt: 'a cat', quality: { toString: 1 } }],
    ['size of an image', '/v1/images/generations', { prompt: 'a cat', size: [{ toString: 1 }] }],
    ['name of a function', '/v1/chat/completions', { ...body, tools: [{ function: { name: { toString: 1 } } }] }],
  ])('sends calls to their provider that have an object where a text is expected: %s', async (_what, path, members) => {
    const { harness, ledger } = start({ usageLimits: budgetOf(1, 'cost') });
    ledger.rates.set('gpt-5', { ...usualRates, imageOutput: 32, searches: { web_search: 1 } });
    const headers = { 'x-svc-api-key': harness.key, 'x-svc-provider': '@one' };
    const reply = await harness.send({ method: 'POST', path, headers, body: { ...members, model: 'gpt-5' } });
    expect(reply.status).toBe(200);
  });

  it.each<[string, JsonObject, number]>([
    ['one of low quality', { quality: 'low' }, 200],
    ['one of any quality', {}, 200],
    ['three of any quality', { n: 3 }, 412],
    ['three of medium quality', { n: 3, quality: 'medium' }, 200],
    ['two large ones', { n: 2, quality: 'high', size: '1024x1536' }, 412],
  ])('reserves the tokens of the images that a call asks for: %s', async (_what, members, status) => {
    const { harness, ledger } = start({ usageLimits: budgetOf(0.3, 'cost') });
    ledger.rates.set('gpt-image-1.5', { input: 5, output: 10, cacheRead: 1.25, imageOutput: 32 });
    const headers = { 'x-svc-api-key': harness.key, 'x-svc-provider': '@one' };
    const drawing = { model: 'gpt-image-1.5', prompt: 'a cat', ...members };
    const reply = await harness.send({ method: 'POST', path: '/v1/images/generations', headers, body: drawing });
    expect(reply.status).toBe(status);
    if (status === 412) expect(JSON.stringify(reply.json)).toContain('Set a smaller n, quality or size or raise the limit');
  });

  it.each([
    ['1', 200],
    ['3', 412],
  ])('reserves the tokens of the images that a form asks for: %s', async (n, status) => {
    const { harness, ledger } = start({ usageLimits: budgetOf(0.3, 'cost') });
    ledger.rates.set('gpt-image-1.5', { input: 5, output: 10, cacheRead: 1.25, imageOutput: 32 });
    const headers = { 'x-svc-api-key': harness.key, 'x-svc-provider': '@one', 'content-type': 'multipart/form-data; boundary=b' };
    const fields = { model: 'gpt-image-1.5', prompt: 'a cat', n, quality: 'high' };
    const parts = Object.entries(fields).map(
      ([name, text]) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`,
    );
    const file =
      '--b\r\ncontent-disposition: form-data; name="image"; filename="a.png"\r\ncontent-type: image/png\r\n\r\nab\r\n--b--\r\n';
    const body = Buffer.from(parts.join('') + file);
    expect((await harness.send({ method: 'POST', path: '/v1/images/edits', headers, body })).status).toBe(status);
  });

  it.each<[string, JsonObject, JsonObject, number]>([
    ['the text of a model with speech', { audioOutput: 640 }, { modalities: ['text'] }, 200],
    ['speech', { audioOutput: 640 }, { modalities: ['text', 'audio'] }, 412],
    ['a model that draws', { imageOutput: 640 }, {}, 412],
  ])('reserves the output at the price of its kind: %s', async (_what, prices, members, status) => {
    const { ask, ledger } = start({ usageLimits: budgetOf(0.005, 'cost') });
    ledger.rates.set('gpt-5', { ...usualRates, ...prices });
    expect((await ask({}, { ...body, ...members })).status).toBe(status);
  });

  it.each([
    ['/v1/audio/speech', 'gpt-4o-mini-tts', 412],
    ['/v1/proxy/audio/speech', 'gpt-4o-mini-tts', 412],
    ['/v1/audio/speech', 'tts-1', 200],
  ])('reserves the tokens of speech: %s, %s', async (path, model, status) => {
    const { harness, ledger } = start({ usageLimits: budgetOf(0.01, 'cost') });
    ledger.rates.set(model, { input: 1, output: 12, cacheRead: 1 });
    const headers = { 'x-svc-api-key': harness.key, 'x-svc-provider': '@one' };
    const spoken = { model, input: 'x'.repeat(1_000), voice: 'alloy' };
    expect((await harness.send({ method: 'POST', path, headers, body: spoken })).status).toBe(status);
  });

  it.each([
    ['/v1/audio/speech', 500, 200],
    ['/v1/audio/speech', 1_000, 412],
    ['/v1/proxy/audio/speech', 500, 200],
    ['/v1/proxy/audio/speech', 1_000, 412],
    ['/v1/chat/completions', 1_000, 200],
  ])('reserves the characters of speech: %s, %i', async (path, length, status) => {
    const { harness, ledger } = start({ usageLimits: budgetOf(0.01, 'cost') });
    ledger.rates.set('tts-1', { input: 0, output: 0, cacheRead: 0, characters: 15 });
    const headers = { 'x-svc-api-key': harness.key, 'x-svc-provider': '@one' };
    const spoken = { ...body, model: 'tts-1', input: 'x'.repeat(length), voice: 'alloy' };
    const reply = await harness.send({ method: 'POST', path, headers, body: spoken });
    expect(reply.status).toBe(status);
    if (status === 412) expect(JSON.stringify(reply.json)).toContain('Set a smaller input or raise the limit');
  });

  it.each<[string, JsonObject, number]>([
    ['an image of low quality', { quality: 'low' }, 200],
    ['an image of any quality', {}, 412],
    ['an image of a cheap model', { model: 'gpt-image-1-mini' }, 200],
    ['a large image of a cheap model', { model: 'gpt-image-1-mini', size: '2048x2048' }, 412],
  ])('reserves the image that a tool of a Responses call may draw: %s', async (_what, members, status) => {
    const { harness, ledger, records, script } = start({ usageLimits: budgetOf(0.1, 'cost') });
    ledger.rates.set('gpt-5', usualRates);
    ledger.rates.set('gpt-image-1', { input: 5, output: 40, cacheRead: 1 });
    ledger.rates.set('gpt-image-1-mini', { input: 2, output: 2, cacheRead: 1, imageOutput: 8 });
    const tool_usage = { image_gen: { input_tokens: 30, output_tokens: 100 } };
    const usage = { input_tokens: 10, output_tokens: 5 };
    script(replyWith(200, { id: 'r', object: 'response', status: 'completed', output: [], usage, tool_usage }));
    const headers = { 'x-svc-api-key': harness.key, 'x-svc-provider': '@one' };
    const asked = { model: 'gpt-5', input: 'hi', max_output_tokens: 20, tools: [{ type: 'image_generation', ...members }] };
    const reply = await harness.send({ method: 'POST', path: '/v1/responses', headers, body: asked });
    expect(reply.status).toBe(status);
    if (status === 412) return expect(JSON.stringify(reply.json)).toContain('Set a smaller max_tokens, quality or size');
    const perImageToken = members.model === undefined ? 40 : 8;
    expect(records[0]?.reservations).toMatchObject([{ units: 10 * 10 + 5 * 100 + 100 * perImageToken }]);
  });

  it('is charged with the characters of speech until their record is settled', async () => {
    const { harness, ledger, records, script } = start({ usageLimits: budgetOf(1, 'cost') });
    ledger.rates.set('tts-1', { input: 0, output: 0, cacheRead: 0, characters: 15 });
    script(replyWith(200, 'ID3', ['content-type', 'audio/mpeg']));
    const headers = { 'x-svc-api-key': harness.key, 'x-svc-provider': '@one' };
    const spoken = { model: 'tts-1', input: 'x'.repeat(500), voice: 'alloy' };
    await harness.send({ method: 'POST', path: '/v1/audio/speech', headers, body: spoken });
    expect(records[0]?.reservations).toMatchObject([{ units: 500 * 15 }]);
  });

  it('reserves the speech of the model that a target names', async () => {
    const statuses = [200, 2_000].map(async (tokens) => {
      const { harness } = start({ usageLimits: budgetOf(tokens, 'tokens') });
      const config = JSON.stringify({ provider: '@one', override_params: { model: 'gpt-4o-mini-tts' } });
      const headers = { 'x-svc-api-key': harness.key, 'x-svc-config': config };
      const spoken = { model: 'voice', input: 'x'.repeat(500), voice: 'alloy' };
      return (await harness.send({ method: 'POST', path: '/v1/audio/speech', headers, body: spoken })).status;
    });
    expect(await Promise.all(statuses)).toEqual([412, 200]);
  });

  it('is charged with the price of speech until its record is settled', async () => {
    const { ask, ledger, records, script } = start({ usageLimits: budgetOf(1, 'cost') });
    ledger.rates.set('gpt-5', { ...usualRates, audioInput: 40, audioOutput: 640 });
    const prompt_tokens_details = { cached_tokens: 100, audio_tokens: 300 };
    const completion_tokens_details = { audio_tokens: 40 };
    const usage = { prompt_tokens: 500, completion_tokens: 50, prompt_tokens_details, completion_tokens_details };
    script(replyWith(200, { ...chatReply('hello'), usage }));
    await ask({}, { ...body, modalities: ['text', 'audio'] });
    expect(records[0]?.reservations).toMatchObject([{ units: 200 * 10 + 200 * 40 + 100 + 10 * 100 + 40 * 640 }]);
  });

  it('is charged at most with the counted output at the price of speech', async () => {
    const { ask, ledger, records, script } = start({ usageLimits: budgetOf(1, 'cost') });
    ledger.rates.set('gpt-5', { ...usualRates, audioOutput: 640 });
    const usage = { prompt_tokens: 500, completion_tokens: 50, completion_tokens_details: { audio_tokens: 1_000_000 } };
    script(replyWith(200, { ...chatReply('hello'), usage }));
    await ask();
    expect(records[0]?.reservations).toMatchObject([{ units: 500 * 10 + 50 * 640 }]);
  });

  it('is charged with the price of the tokens of images until their record is settled', async () => {
    const { harness, ledger, records, script } = start({ usageLimits: budgetOf(1, 'cost') });
    ledger.rates.set('gpt-image-1.5', { input: 5, output: 10, cacheRead: 1.25, imageOutput: 32 });
    const usage = { input_tokens: 10, output_tokens: 300, output_tokens_details: { image_tokens: 272, text_tokens: 28 } };
    script(replyWith(200, { created: 1, data: [{ b64_json: 'aa' }], usage }));
    const headers = { 'x-svc-api-key': harness.key, 'x-svc-provider': '@one' };
    const drawing = { model: 'gpt-image-1.5', prompt: 'a cat', quality: 'low' };
    await harness.send({ method: 'POST', path: '/v1/images/generations', headers, body: drawing });
    expect(records[0]?.reservations).toMatchObject([{ units: 10 * 5 + 28 * 10 + 272 * 32 }]);
  });
});
