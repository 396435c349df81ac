import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import {
  adminRoutes,
  documentReaders,
  entities,
  inOrder,
  migrations,
  publicRoutes,
  resources,
  samples,
} from '../../admin/tables.ts';
import { documentKinds } from '../../core/contract/protocol/documents.ts';
import { isAdminCall, ownerOf } from '../../core/endpoints/control-plane-paths.ts';

const rules = createRequire(import.meta.url)('../../config/admin-imports.cjs') as {
  readonly adminFolders: readonly string[];
  readonly resourceArrows: Readonly<Record<string, readonly string[]>>;
};
const folder = new URL('../../admin/resources/', import.meta.url);

it('resources: the list names every folder of admin/resources', () => {
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const listed = resources.map(({ name }) => name);
  expect(listed.toSorted()).toEqual(folders.map(({ name }) => name).sort());
});

it('resources: order follows `after`, and errors name the resource', () => {
  const named = (...list: [string, string[]][]) =>
    inOrder(list.map(([name, after]) => ({ name, after }))).map(({ name }) => name);
  expect(named(['a', ['c']], ['b', []], ['c', ['b']])).toEqual(['b', 'c', 'a']);
  expect(() => named(['a', ['d']])).toThrow('a: after names d, which is no resource');
  expect(() => named(['a', ['b']], ['b', ['a']])).toThrow('after forms a circle: a, b, a');
});

it('routes: no route hides a more specific one behind it', () => {
  const hides = (earlier: string[], later: string[]) =>
    earlier.length === later.length && earlier.every((part, at) => part === later[at] || part.startsWith(':'));
  const seen: { method: string; path: string; parts: string[] }[] = [];
  for (const { method, path } of adminRoutes) {
    const parts = path.split('/');
    expect(
      seen.filter((one) => one.method === method && hides(one.parts, parts)).map((one) => `${one.path} hides ${path}`),
    ).toEqual([]);
    seen.push({ method, path, parts });
  }
});

it('migrations: names and order stay those of existing databases', () => {
  expect(migrations.slice(0, 17).map(({ name }) => name)).toEqual([
    '0001-first-slice',
    '0002-revisions',
    '0003-audit-chain',
    '0004-identity',
    '0005-tenancy',
    '0006-api-keys',
    '0007-integrations',
    '0008-files-batches-jobs',
    '0010-limits',
    '0016-exact-settlement',
    '0017-secret-references',
    '0018-integration-headers',
    '202611220640-nano-usd',
    '202611220700-model-names',
    '202611220722-reject-unmetered',
    '202611220735-key-checks',
    '202611220801-rate-leases',
  ]);
  expect(new Set(migrations.map(({ name }) => name)).size).toBe(migrations.length);
});

it('documents: one reader for each kind of document', () => {
  expect(documentReaders.map(({ kind }) => kind).sort()).toEqual([...documentKinds].sort());
});

it('entities: no table is declared twice', () => {
  expect(new Set(entities).size).toBe(entities.length);
});

it('samples: one for each create route that they name', () => {
  const posts = adminRoutes.filter(({ method }) => method === 'POST').map(({ path }) => path.replace(/:(\w+)/g, '{$1}'));
  for (const { create } of samples) expect(posts).toContain(create);
});

it('gateways: the paths of every route are forwarded to the control plane', () => {
  for (const { method, path } of [...adminRoutes, ...publicRoutes]) {
    // PUT /batches/{id} is matched by method, because providers have the other batch routes.
    if (method === 'PUT' && path.startsWith('/batches/')) continue;
    const isShared = isAdminCall({ path: `/v1${path}`, header: () => 'Bearer svc_admin_' }, new Map());
    if (isShared) continue;
    expect(ownerOf(`/v1${path}`), path).toBe('control-plane');
  }
});

it('imports: the rules cover every folder of admin', () => {
  const entries = readdirSync(new URL('../', folder), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(entries.map(({ name }) => name).sort()).toEqual([...rules.adminFolders, 'resources'].sort());
});

it('imports: resources do not import each other in a circle', () => {
  const reachable = (from: string, seen = new Set<string>()): Set<string> => {
    for (const next of rules.resourceArrows[from] ?? []) if (!seen.has(next)) reachable(next, seen.add(next));
    return seen;
  };
  expect(Object.keys(rules.resourceArrows).filter((name) => reachable(name).has(name))).toEqual([]);
});
