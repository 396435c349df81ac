import { expect, it } from 'vitest';
import type { McpServerDocument } from '../../../../core/contract/protocol/mcp/mcp.ts';
import { requireEnabled } from '../../../../core/mcp/lists/capabilities.ts';
import { serverSettings } from '../../../../core/mcp/server/server-settings.ts';

const none = { tool: [], prompt: [], resource: [], resource_template: [] };

function settingsOf(given: Partial<McpServerDocument>) {
  const prepare = serverSettings({
    openHeaders: () => ({}),
    parseUrl: () => ({ origin: 'http://a.test', path: '/mcp' }) as never,
  });
  const document = { url: 'http://a.test/mcp', transport: 'http', authType: 'none', toolsAllowed: null, pins: null, rest: null };
  return prepare({ ...document, disabled: none, ...given } as McpServerDocument);
}

it.each([
  'file:///readme.md',
  'FILE:///readme.md',
  ' file:///readme.md',
  'file:///read\nme.md',
  'file:///a/../readme.md',
  'file:///%2e%2e/readme.md',
  'file://localhost/readme.md',
  'file:///%72eadme.md',
  'file:///a%2F..%2Freadme.md',
])('disabled resources: %j is another spelling of one', (uri) => {
  const server = settingsOf({ disabled: { ...none, resource: ['file:///readme.md'] } });
  expect(server.hasFilters).toBe(true);
  expect(server.isEnabled('resource', uri)).toBe(false);
  expect(server.isEnabled('resource', 'file:///other.md')).toBe(true);
});

it.each([
  'logs://x/monday',
  'LOGS://x/monday',
  'logs://x/a/../monday',
  'logs://x/monday?page=2',
  'logs://x/monday#end',
  `logs://x/${'m'.repeat(20_000)}`,
])('disabled templates: %j may be an expansion of one', (uri) => {
  const server = settingsOf({
    disabled: { ...none, resource_template: ['logs://x/{day}'] },
    listedResources: ['logs://x/today', 'Logs://x/an%20hour'],
  });
  expect(server.isEnabled('resource', uri)).toBe(false);
  expect(server.isEnabled('resource', 'logs://x/today')).toBe(true);
  expect(server.isEnabled('resource', 'Logs://x/an%20hour')).toBe(true);
  expect(server.isEnabled('resource', 'logs://y/monday')).toBe(true);
});

it('disabled resources cannot be subscribed to with subscriptions/listen', () => {
  const server = settingsOf({ disabled: { ...none, resource: ['file:///readme.md'] } });
  const listen = (resourceSubscriptions: unknown) => () =>
    requireEnabled(server, {
      ...{ kind: 'request', id: 1, method: 'subscriptions/listen' },
      params: { notifications: { toolsListChanged: true, resourceSubscriptions } },
    });
  expect(listen(['file:///other.md', 'FILE:///readme.md'])).toThrow("Resource 'FILE:///readme.md' is disabled");
  expect(listen('file:///readme.md')).toThrow('is disabled');
  expect(listen(['file:///other.md'])).not.toThrow();
  expect(listen(undefined)).not.toThrow();
});
