import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenApiDocument, Operation } from '../../../admin/openapi/document.ts';
import { createReplyChecker, type ReplyChecker } from '../../support/reply-checker.ts';
import { randomFrom } from '../../support/samples/random-from.ts';
import { createFuzz } from '../support/fuzz-values.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

const seed = 20_261_122;
/** Requests of each operation with a generated query and body. Every second one violates the schema. */
const generated = 2;
/** Requests that the same code rejects for all operations are sent to every third one. LONG_TESTS: to all. */
const commonEvery = process.env.LONG_TESTS ? 1 : 3;

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

describe.each(ruleDatabases)('requests generated from the API description, on %s', (database) => {
  let plane: Plane;
  let document: OpenApiDocument;
  let errorOf: ReplyChecker;
  beforeAll(async () => {
    plane = await startPlane(database, { ADMIN_REQUESTS_PER_KEY: '0', ADMIN_REQUESTS_PER_ADDRESS: '0' });
    document = (await (await fetch(`${plane.url}/v1/openapi.json`)).json()) as OpenApiDocument;
    errorOf = createReplyChecker(document);
  });
  afterAll(() => plane?.close());

  const random = randomFrom(seed);
  const { pick, valueFor, oddTexts } = createFuzz(random);

  it('get only documented replies, with bodies that match their schemas', { timeout: 300_000 }, async () => {
    const errors: string[] = [];
    const seen = new Set<number>();
    let operations = 0;
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        if (operation['x-svc-plane'] === 'data') continue;
        // The limit of the body is the same code for all routes.
        const isLarge = path.startsWith('/configs');
        const isCommon = operations++ % commonEvery === 0 || isLarge;
        for (const sent of requestsOf(method.toUpperCase(), path, operation, { isCommon, isLarge })) {
          const reply = await fetch(`${plane.url}/v1${sent.path}`, { ...sent, body: sent.body ?? null, redirect: 'manual' });
          const text = await reply.text();
          seen.add(reply.status);
          const error = errorOf(operation, reply, text);
          if (error)
            errors.push(
              `${sent.method} ${sent.path} ${sent.body?.slice(0, 300)}: ${reply.status} ${error} ${text.slice(0, 300)}`,
            );
        }
      }
    }
    expect(errors).toEqual([]);
    expect([...seen].sort()).toEqual(expect.arrayContaining([200, 400, 401, 404, 405, 413, 422]));
  });

  interface Extra {
    readonly isCommon: boolean;
    readonly isLarge: boolean;
  }

  function* requestsOf(method: string, template: string, operation: Operation, { isCommon, isLarge }: Extra): Generator<Sent> {
    const headers = { 'x-svc-api-key': plane.adminKey, 'content-type': 'application/json' };
    const content = operation.requestBody?.content['application/json'];
    const path = pathOf(template);
    const example = content ? JSON.stringify(content.example) : undefined;
    const isPublic = operation.security.length === 0;
    yield { method, path: path + queryOf(operation, 0), headers, body: example };
    if (!isPublic && isCommon) yield { method, path, headers: { 'content-type': 'application/json' }, body: example };
    // Every operation of a path has the same reply to a method that the path does not have.
    if (method === firstMethodOf(template) && isCommon) yield { method: 'PATCH', path, headers };
    for (let i = 0; i < generated; i++) {
      const oddness = i % 2 === 0 ? 0 : 0.15;
      const body = content ? JSON.stringify(valueFor(content.schema, oddness)) : undefined;
      yield { method, path: pathOf(template) + queryOf(operation, oddness), headers, body };
    }
    if (!content || !isCommon) return;
    yield { method, path, headers, body: '{"name":' };
    yield { method, path, headers: { ...headers, 'content-type': 'text/plain' }, body: example };
    if (isLarge) yield { method, path, headers, body: JSON.stringify({ name: 'x'.repeat(1_100_000) }) };
    if (method !== 'POST' || isPublic) return;
    // The first may succeed. The second is then another request with the same idempotency key.
    const once = { ...headers, 'idempotency-key': `key-${template}` };
    yield { method, path, headers: once, body: JSON.stringify({ ...(content.example as object), name: 'Once' }) };
    yield { method, path, headers: once, body: JSON.stringify({ ...(content.example as object), name: 'Twice' }) };
  }

  const firstMethodOf = (template: string) => Object.keys(document.paths[template] ?? {})[0]?.toUpperCase();

  function pathOf(template: string): string {
    return template.replace(/\{(\w+)\}/g, (_, name: string) => {
      if (name === 'workspaceId' && random() < 0.5) return plane.workspaceId;
      return encodeURIComponent(pick(['none', '0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b', plane.organisationId, 'Ü \u0000']));
    });
  }

  function queryOf(operation: Operation, oddness: number): string {
    const query = new URLSearchParams();
    for (const { in: path, name, required, schema } of operation.parameters) {
      if (path !== 'query' || (!required && random() < 0.7)) continue;
      if (name === 'workspace_id') query.set(name, plane.workspaceId);
      else if (name === 'organisation_id') query.set(name, plane.organisationId);
      else query.set(name, random() < oddness ? pick(oddTexts) : String(valueFor(schema, 0)));
    }
    if (random() < oddness) query.set('surprise', '1');
    return query.size === 0 ? '' : `?${query}`;
  }
});
