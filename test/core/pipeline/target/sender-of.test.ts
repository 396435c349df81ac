import { expect, it } from 'vitest';
import type { UpstreamSender } from '../../../../core/contract/provider/upstream.ts';
import { senderOf } from '../../../../core/pipeline/target/sender-of.ts';
import { providers } from '../../../../core/providers/index.ts';
import { mock } from '../../../../core/providers/mock/index.ts';

const network: UpstreamSender = { send: () => ({ resume: () => {}, abort: () => {} }) };

it('calls to the mock provider stay in the process, unless a custom host is set', () => {
  expect(senderOf({ adapter: mock, origin: 'mock://local' }, network)).toBe(mock.inProcess);
  expect(senderOf({ adapter: mock, origin: 'https://models.example' }, network)).toBe(network);
});

it('calls to every other listed provider go to the network, whatever its origin', () => {
  const others = [...providers.values()].filter(({ id }) => id !== 'mock');
  expect(others.length).toBeGreaterThan(20);
  for (const adapter of others) expect(senderOf({ adapter, origin: 'mock://local' }, network)).toBe(network);
});
