import { expect, it } from 'vitest';
import { agentSettings } from '../../../core/a2a/agent-settings.ts';
import type { AgentServerDocument } from '../../../core/contract/protocol/agents/agents.ts';

const settingsOf = agentSettings({
  openHeaders: () => ({}),
  parseUrl(text) {
    const { origin, pathname, search } = new URL(text);
    return { origin, path: pathname + search };
  },
});
const interfaces = [
  { binding: 'JSONRPC', version: '0.3', url: 'https://agent.example.com/old/' },
  { binding: 'JSONRPC', version: '1.0', url: 'https://agent.example.com/new?k=1' },
];
const agent = settingsOf({ url: 'https://agent.example.com/stored', interfaces } as unknown as AgentServerDocument);

it.each([
  ['JSONRPC', '1.0', { path: '/new', query: 'k=1' }],
  ['JSONRPC', '0.3', { path: '/old', query: '' }],
  ['JSONRPC', '2.0', { path: '/old', query: '' }],
  ['HTTP+JSON', '1.0', { path: '/stored', query: '' }],
] as const)('addresses of an agent: %s in version %s', (binding, version, address) => {
  expect(agent.addressOf(binding, version)).toEqual({ origin: 'https://agent.example.com', ...address });
});
