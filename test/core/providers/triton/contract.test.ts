import { expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import { triton } from '../../../../core/providers/triton/index.ts';
import { createHarness } from '../../../../core/test-kit/pipeline-harness.ts';
import { callOf, providerContractSuite } from '../contract-suite.ts';

const custom_host = 'https://triton.example.com';
providerContractSuite(triton, {
  settings: { custom_host },
  lacks: { 'complete streamed': 'its streams do not say how they end: see the test below' },
  finishReasons: {},
});

it('triton: streams at its own address, and converts the result to text completions', async () => {
  const gateway = createHarness();
  gateway.script((_call, handler) => {
    handler.onHead(200, ['content-type', 'text/event-stream; charset=utf-8']);
    for (const text of [' To', 'kyo.']) {
      handler.onData(Buffer.from(`data: ${JSON.stringify({ model_name: 'llama', model_version: '1', text_output: text })}\n\n`));
    }
    handler.onEnd();
  });
  const headers = { 'x-svc-provider': 'triton', 'x-svc-custom-host': custom_host, 'x-svc-api-key': gateway.key };
  const reply = await gateway.send({ path: '/v1/completions', headers, body: { model: 'llama', prompt: 'a', stream: true } });
  const texts = [...reply.text.matchAll(/"text":"([^"]*)"/g)].map((match) => match[1]);
  expect(texts).toEqual([' To', 'kyo.', '']);
  expect(reply.text).toContain('"finish_reason":"stop"');
  expect(reply.text.trimEnd()).toMatch(/data: \[DONE\]$/);
  expect(`${gateway.calls[0]?.origin}${gateway.calls[0]?.path}`).toBe(`${custom_host}/v2/models/llama/generate_stream`);
  expect(JSON.parse(Buffer.from(gateway.calls[0]?.body as Uint8Array).toString())).toEqual({
    text_input: 'a',
    parameters: { stream: true },
  });
  expect(gateway.records[0]).toMatchObject({ outcome: 'success', stream: true });
});

it('triton: reports an error event, and rejects several prompts', () => {
  const complete = triton.operations.complete as Operation;
  const reader = complete.streamReader();
  reader.push({ event: null, data: { text_output: 'a' } });
  reader.push({ event: null, data: { error: 'out of memory' } });
  expect([reader.complete(), reader.error?.()?.message]).toEqual([false, 'triton error: out of memory']);
  const params = { model: 'm', prompt: ['a', 'b'] };
  expect(() => complete.toProvider?.(params, callOf(params, {}, {}))).toThrow(/prompt/);
});
