import { afterEach, expect, it, vi } from 'vitest';
import type { Operation } from '../../../core/contract/provider/provider.ts';
import { providers } from '../../../core/providers/index.ts';
import { chatStream, createHarness } from '../../../core/test-kit/pipeline-harness.ts';

afterEach(() => vi.restoreAllMocks());

it('a stream whose usage its adapter cannot read ends, is recorded, and is logged with the reason', async () => {
  const chat = providers.get('openai')?.operations.chatComplete as Operation;
  const usage = (): never => {
    throw new Error('odd counts');
  };
  vi.spyOn(chat, 'streamReader').mockImplementation(() => ({ push: () => {}, complete: () => true, usage }));
  const harness = createHarness();
  harness.script(chatStream(['hel', 'lo']));
  const reply = await harness.send({
    headers: { 'x-svc-provider': '@one' },
    body: { model: 'm', stream: true, messages: [{ role: 'user', content: 'hello' }] },
  });
  expect(reply.text).toContain('Something went wrong');
  expect(harness.records).toMatchObject([{ outcome: 'cut', errorCode: 'internal' }]);
  expect(harness.logs).toMatchObject([{ level: 'error', fields: { reason: 'odd counts' } }]);
});

it('a stream whose adapter cannot make a translator is a 500 with the reason in the log', async () => {
  const chat = providers.get('openai')?.operations.chatComplete as Operation;
  vi.spyOn(chat, 'translateStream').mockImplementation(() => {
    throw new TypeError('no translator');
  });
  const harness = createHarness();
  harness.script(chatStream(['hel', 'lo']));
  const reply = await harness.send({
    headers: { 'x-svc-provider': '@one' },
    body: { model: 'm', stream: true, messages: [{ role: 'user', content: 'hello' }] },
  });
  expect(reply.status).toBe(500);
  expect(harness.logs).toMatchObject([{ level: 'error', fields: { reason: 'no translator' } }]);
});
