import { expect, it } from 'vitest';
import { decodeBodySync } from '../core/contract/values/bodies/content-decoder.ts';
import { replyTo } from '../core/providers/mock/chat-reply.ts';
import { type MockBehaviour, parseModelName } from '../core/providers/mock/model-name.ts';

/**
 * Work on the messages of clients, providers, MCP servers and agents takes linear time, as the work in `linear-time.test.ts` does. Work in
 * quadratic time would exceed the time limit of the tests by far.
 */
const n = 400_000;
const timeout = 20_000;

it.each<[string, () => unknown]>([
  [
    'texts that the mock provider cuts before much white space',
    () => {
      const content = ` a  b${' '.repeat(n)}`;
      const { text } = replyTo({ messages: [{ role: 'user', content }], max_tokens: 1 }, parseModelName('echo') as MockBehaviour);
      expect(text).toBe(' a');
    },
  ],
  ['names of codings with much white space', () => decodeBodySync(Buffer.from('a'), `${'\u00a0'.repeat(n)}x`, 1)],
])('%s take linear time', { timeout }, (_, run) => {
  expect(run).not.toThrow();
});
