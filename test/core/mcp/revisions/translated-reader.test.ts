import { expect, it } from 'vitest';
import { translatedReader } from '../../../../core/mcp/revisions/translated-reader.ts';

it.each(['sessions', 'stateless'] as const)(
  'the reader of a client of the kind %s parses no message with too many values',
  (client) => {
    const json = `{"jsonrpc":"2.0","id":2,"result":{"content":[${'{},'.repeat(400_001)}1]}}`;
    expect(() => translatedReader({ read: () => null }, client, 'tools/call').read(json)).toThrow('too many values');
  },
);
