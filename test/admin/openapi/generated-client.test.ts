import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@hey-api/openapi-ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sample } from '../../../admin/define-resource.ts';
import type { OpenApiDocument } from '../../../admin/openapi/document.ts';
import { samples } from '../../../admin/tables.ts';
import type { Plane } from '../support/plane.ts';
import { startPlaneWithGateway } from '../support/plane-gateway.ts';
import { embeddedDatabases } from '../support/test-database.ts';

// biome-ignore lint/suspicious/noExplicitAny: the client is generated while the test runs
type Call = (options: Record<string, unknown>) => Promise<{ data?: any; error?: any; response: Response }>;

/** Creates that insert several items at once and return their ids in a list. */
const inserts = ['/logs'];

const here = fileURLToPath(new URL('.', import.meta.url));

let generated: { readonly folder: string; readonly sdk: Record<string, Call> } | null = null;
let folder: string | null = null;

/** Generates the client once: its description does not depend on the database. */
async function generate(document: OpenApiDocument): Promise<NonNullable<typeof generated>> {
  if (generated) return generated;
  // Inside the repository, so that the client's imports resolve. The test removes it.
  folder = await mkdtemp(join(here, '.generated-'));
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(document));
  await createClient({
    input: join(folder, 'openapi.json'),
    output: { path: join(folder, 'client'), postProcess: [] },
    plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
    logs: { level: 'silent' },
  });
  generated = { folder, sdk: await import(join(folder, 'client', 'sdk.gen.ts')) };
  return generated;
}

afterAll(async () => {
  if (folder) await rm(folder, { recursive: true, force: true });
});

describe.each(embeddedDatabases)('a client generated from the API description, on %s', (database) => {
  let plane: Plane;
  let document: OpenApiDocument;
  let sdk: Record<string, Call>;
  const made: Record<string, string> = {};

  beforeAll(async () => {
    plane = await startPlaneWithGateway(database);
    document = (await (await fetch(`${plane.url}/v1/openapi.json`)).json()) as OpenApiDocument;
    const { folder, sdk: functions } = await generate(document);
    sdk = functions;
    const { client } = await import(join(folder, 'client', 'client.gen.ts'));
    client.setConfig({ baseUrl: `${plane.url}/v1`, headers: { 'x-svc-api-key': plane.adminKey } });
  });
  afterAll(() => plane?.close());

  async function call(method: string, path: string, options: Record<string, unknown> = {}) {
    const name = document.paths[path]?.[method]?.operationId ?? `${method} ${path}`;
    const wanted = sdk[name];
    if (!wanted) throw new Error(`the client has no ${name}`);
    const { data, error, response } = await wanted(options);
    expect(response.status, `${method} ${path}: ${JSON.stringify(error ?? data)}`).toBe(200);
    return { data, response };
  }

  it('has a sample for every create whose items can be listed', () => {
    const creates = Object.entries(document.paths).flatMap(([path, methods]) => {
      const isCollection = Object.keys(document.paths).some(
        (other) => other.startsWith(`${path}/{`) && !other.slice(path.length + 2).includes('/'),
      );
      return methods.post?.['x-svc-plane'] === 'control' && methods.get && isCollection && !path.includes('{') ? [path] : [];
    });
    const sampled = new Set([...samples.map((sample) => sample.create), ...inserts]);
    expect(creates.filter((path) => !sampled.has(path))).toEqual([]);
  });

  it.each(samples)('creates, reads, lists, updates and deletes at $create', async (sample) => {
    const created = await call('post', sample.create, { body: sample.body(plane, made, 1, 'client') });
    const id = sample.idOf(created.data);
    made[sample.create] = id;
    const query = queryOf(sample);
    expect(JSON.stringify((await call('get', sample.list, { query })).data)).toContain(id);
    if (sample.item === null) return;
    const path = { [/\{(\w+)\}$/.exec(sample.item)?.[1] ?? '']: id };
    const before = await call('get', sample.item, { path, query });
    if (!sample.hasNoText) expect(JSON.stringify(before.data)).toContain('client');
    // A change right after the create needs it.
    expect(created.response.headers.get('etag')).toBe(before.response.headers.get('etag'));
    const update = sample.update(plane, made, 'client');
    if (update) {
      const etag = before.response.headers.get('etag');
      const headers = etag ? { 'if-match': etag } : {};
      const changed = await call('put', sample.item, { path, body: update, headers });
      const after = await call('get', sample.item, { path, query });
      expect(JSON.stringify(after.data)).toContain('client changed');
      // The next change needs it.
      expect(changed.response.headers.get('etag')).toBe(after.response.headers.get('etag'));
    }
    if (!document.paths[sample.item]?.delete) return;
    // A second item of this kind is deleted. The first stays, because others refer to it.
    const second = await call('post', sample.create, { body: sample.body(plane, made, 2, 'client') });
    const other = { [Object.keys(path)[0] ?? '']: sample.idOf(second.data) };
    await call('delete', sample.item, { path: other, query, ...(sample.remove ? { body: sample.remove(2, 'client') } : {}) });
    if (sample.staysListed) return;
    expect(JSON.stringify((await call('get', sample.list, { query })).data)).not.toContain(`"${sample.idOf(second.data)}"`);
  });

  it('gets errors in their declared shape', async () => {
    const { error, response } = await (sdk.getConfigsBySlug as Call)({
      path: { slug: 'none' },
      query: { workspace_id: plane.workspaceId },
    });
    expect(response.status).toBe(404);
    expect(error).toMatchObject({ success: false, data: { errorCode: 'AB08' } });
  });

  const queryOf = (sample: Pick<Sample, 'ofWorkspace'>) => (sample.ofWorkspace ? { workspace_id: plane.workspaceId } : {});
});
