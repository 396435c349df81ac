import { expect, it } from 'vitest';
import { rekaAi } from '../../../../core/providers/reka-ai/index.ts';
import { createHarness, replyWith } from '../../../../core/test-kit/pipeline-harness.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(rekaAi, {
  credential: { header: 'x-api-key', value: (key) => key },
  finishReasons: { stop: 'stop', length: 'length', context: 'length' },
});

it('reka-ai: serves chats and Messages calls through the pipeline', async () => {
  const gateway = createHarness();
  const responses = [{ finish_reason: 'stop', message: { role: 'assistant', content: 'hello' } }];
  gateway.script(replyWith(200, { id: 'r', model: 'reka-flash', responses, usage: { input_tokens: 3, output_tokens: 2 } }));
  const headers = { 'x-svc-provider': 'reka-ai', 'x-svc-api-key': gateway.key, authorization: 'Bearer own-key' };
  const body = { model: 'reka-flash', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };
  const chat = await gateway.send({ headers, body });
  expect(chat.json).toMatchObject({ choices: [{ message: { content: 'hello' }, finish_reason: 'stop' }] });
  const message = await gateway.send({ path: '/v1/messages', headers, body });
  expect(message.json).toMatchObject({ type: 'message', content: [{ type: 'text', text: 'hello' }], stop_reason: 'end_turn' });
  expect(gateway.calls.map((call) => `${call.origin}${call.path}`)).toEqual(Array(2).fill('https://api.reka.ai/v1/chat'));
  expect(gateway.calls[0]?.headers).toEqual(expect.arrayContaining(['x-api-key', 'own-key']));
  expect(gateway.records[0]).toMatchObject({ inputTokens: 3, outputTokens: 2 });
});
