import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { checkRoutes } from '../../../admin/http/check-routes.ts';
import { type AdminRoute, defineRoute } from '../../../admin/http/route.ts';
import { adminRoutes, publicRoutes } from '../../../admin/tables.ts';

const good = defineRoute({
  method: 'GET',
  path: '/things/:id',
  summary: 'Read a thing',
  scopes: ['configs.read'],
  tenant: 'either',
  resource: 'things',
  action: 'read',
  query: v.strictObject({}),
  body: null,
  reply: v.strictObject({}),
  handle: async () => ({}),
});

describe('incomplete route declarations', () => {
  it.each(['tenant', 'resource', 'action', 'summary', 'query', 'body', 'reply', 'handle', 'scopes'] as const)(
    'stop the start: without %s',
    (field) => {
      const { [field]: _, ...rest } = good;
      expect(() => checkRoutes([rest as AdminRoute], [])).toThrow(`GET /things/:id: ${field} is missing`);
    },
  );

  it('stop the start: with no scope, except routes of signed-in users', () => {
    expect(() => checkRoutes([{ ...good, scopes: [] }], [])).toThrow('GET /things/:id: scopes is missing');
    checkRoutes([{ ...good, scopes: [], signedIn: 'required' }], []);
  });

  it('stop the start: the same one twice, with any parameter names', () => {
    expect(() => checkRoutes([good, { ...good, path: '/things/:slug' }], [])).toThrow('GET /things/:: declared twice');
  });

  it('do not exist in this service', () => {
    checkRoutes(adminRoutes, publicRoutes);
  });
});
