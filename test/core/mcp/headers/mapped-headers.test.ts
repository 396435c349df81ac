import { expect, it } from 'vitest';
import type { MappedValues } from '../../../../core/contract/protocol/credentials/secret-managers.ts';
import { createMappedHeaders } from '../../../../core/mcp/headers/mapped-headers.ts';
import type { ServerSettings } from '../../../../core/mcp/server/server-settings.ts';

it.each([
  ['headers', 'passthrough_headers'],
  ['passthrough_headers', 'headers'],
])('passthrough headers of secret managers replace others of their name, after mappings of %s and %s', async (...fields) => {
  const values = { credentials: {}, settings: Object.fromEntries(fields.map((field) => [field, { 'X-Team': field }])) };
  const headers = createMappedHeaders({ valuesOf: () => values as MappedValues, renew: async () => false });
  const mappedSecrets = fields.map((field) => ({ field, target: field, slug: 'r' }));
  const server = { document: { slug: 's', mappedSecrets }, headers: {}, fingerprint: 'f' } as unknown as ServerSettings;
  expect((await headers.complete(server)).headers).toEqual({ 'x-team': 'passthrough_headers' });
});
