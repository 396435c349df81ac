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

describe('routes that are not declared completely', () => {
  it.each(['tenant', 'resource', 'action', 'summary', 'query', 'body', 'reply', 'handle', 'scopes'] as const)(
    'end the start: without %s',
    (field) => {
      const { [field]: _, ...rest } = good;
      expect(() => checkRoutes([rest as AdminRoute], [])).toThrow(`GET /things/:id: ${field} is missing`);
    },
  );

  it('end the start: with no scope, unless people sign in for it', () => {
    expect(() => checkRoutes([{ ...good, scopes: [] }], [])).toThrow('GET /things/:id: scopes is missing');
    checkRoutes([{ ...good, scopes: [], signedIn: 'required' }], []);
  });

  it('end the start: the same one twice, whatever its parameters are called', () => {
    expect(() => checkRoutes([good, { ...good, path: '/things/:slug' }], [])).toThrow('GET /things/:: declared twice');
  });

  it('are none of ours', () => {
    checkRoutes(adminRoutes, publicRoutes);
  });
});
