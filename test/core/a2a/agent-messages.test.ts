import { expect, it } from 'vitest';
import { agentReader, type ReaderParts } from '../../../core/a2a/agent-messages.ts';

it.each<[string, Partial<ReaderParts>]>([
  ['below guardrails', { checkReply: (() => null) as unknown as ReaderParts['checkReply'] }],
  ['with a card', { call: { operation: 'GetExtendedAgentCard', binding: 'JSONRPC' } } as Partial<ReaderParts>],
])('the reader of agents %s parses no message with too many values', (_name, parts) => {
  const reader = agentReader({
    ...({
      call: { operation: 'SendMessage', binding: 'JSONRPC' },
      card: {},
      checkReply: null,
      checkStream: null,
    } as unknown as ReaderParts),
    onCharacters: () => undefined,
    ...parts,
  });
  const json = `{"jsonrpc":"2.0","id":1,"result":{"parts":[${'{},'.repeat(400_001)}1]}}`;
  expect(() => reader.read(json)).toThrow('too many values');
});
