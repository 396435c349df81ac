import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scopesByType, unusedScopes } from '../../../../admin/access/scopes.ts';
import { unusedHeader, unusedSettings, withoutEffect } from '../../../../admin/http/reply/unused-settings.ts';
import { adminRoutes } from '../../../../admin/tables.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabase } from '../../support/test-database.ts';

describe('settings without effect', () => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(ruleDatabase);
  });
  afterAll(() => plane?.close());

  const analytics = { membersViewAnalytics: false };
  it.each([
    ['PUT', '/organisations/self', { security_settings: analytics }, 'security_settings.membersViewAnalytics'],
    [
      'POST',
      '/api-keys/workspace/service',
      { name: 'k', scopes: ['virtual_keys.copy', 'configs.read'] },
      'scopes[virtual_keys.copy]',
    ],
  ])('%s %s with %j are listed in the reply', async (method, path, body, named) => {
    const at = path.replace('self/auth', `${plane.organisationId}/auth`);
    const reply = await plane.ask(method, at, { body });
    expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 200 });
    expect(reply.headers.get('x-svc-unused-settings')).toBe(named);
  });

  it('add no header to a request without them', async () => {
    const body = {
      settings: { cache_ttl: 60 },
      security_settings: { membersViewLogs: true },
      export_settings: { deniedFields: ['cost'] },
    };
    const reply = await plane.ask('PUT', '/organisations/self', { body });
    expect([reply.status, reply.headers.get('x-svc-unused-settings')]).toEqual([200, null]);
  });
});

describe('scopes without effect', () => {
  /** Scopes that the data plane requires. */
  const inSource = ['core', 'plugins']
    .map((folder) => readAll(new URL(`../../../../${folder}`, import.meta.url).pathname))
    .join('\n');
  /** Without the route with which every key can read itself. */
  const ofRoutes = new Set(adminRoutes.filter((route) => route.scopes.length < 50).flatMap((route) => route.scopes));
  const all = [...new Set(Object.values(scopesByType).flatMap((scopes) => [...scopes]))];

  it.each(all)('%s is used by a route, or listed as unused', (scope) => {
    const isUsed = ofRoutes.has(scope) || inSource.includes(`'${scope}'`);
    expect(unusedScopes([scope]).length > 0).toBe(!isUsed);
  });
});

describe('paths of unused settings', () => {
  const schema = v.strictObject({ list: v.optional(v.array(v.strictObject({ old: v.nullish(withoutEffect(v.string())) }))) });

  it('go through lists and skip empty values', () => {
    expect(unusedSettings(schema, { list: [{ old: 'a' }, { old: '' }, { old: null }, { old: 'b' }] })).toEqual([
      'list[0].old',
      'list[3].old',
    ]);
    expect(unusedSettings(schema, undefined)).toEqual([]);
  });

  it('are cut between two of them to the length of a header', () => {
    const value = unusedHeader(Array.from({ length: 1_000 }, (_, index) => `path${index}`));
    expect(value.length).toBeLessThanOrEqual(2_000);
    expect(value).toMatch(/path\d+, \.\.\.$/);
  });
});

function readAll(folder: string): string {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  return names.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
}
