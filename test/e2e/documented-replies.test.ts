import { beforeAll, expect, it } from 'vitest';
import type { OpenApiDocument, Operation } from '../../admin/openapi/document.ts';
import { createFuzz } from '../admin/support/fuzz-values.ts';
import { type SharedGateway, shareGateway } from '../support/product/shared-gateway.ts';
import { createReplyChecker } from '../support/reply-checker.ts';
import { randomFrom } from '../support/samples/random-from.ts';

const seed = 20_261_122;
/** Requests generated from the description of each operation. Every second one deviates from it. */
const requestsOfData = process.env.LONG_TESTS ? 8 : 2;
const models = [
  '@mock/echo',
  '@mock/echo',
  '@mock/text:a b;cut=1',
  '@mock/status=429;retry-after=1',
  '@mock/none',
  '@none/x',
  'x',
];

const random = randomFrom(seed);
const { pick, valueFor, oddTexts } = createFuzz(random);

let gateway: SharedGateway;
let document: OpenApiDocument;
beforeAll(async () => {
  // Its requests keep a control plane busy, and the embedded database would delay those of other test files.
  gateway = await shareGateway('pair');
  document = (await (await fetch(`${gateway.baseUrl}/openapi.json`)).json()) as OpenApiDocument;
});

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string | FormData;
}

it('a gateway sends only replies that its API description has, to requests generated from it', { timeout: 300_000 }, async () => {
  const differenceOf = createReplyChecker(document);
  const differences: string[] = [];
  const statuses = new Set<number>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      for (const sent of requestsOf(method.toUpperCase(), path, operation)) {
        const reply = await fetch(`${gateway.origin}${baseOf(operation)}${sent.path}`, {
          ...sent,
          body: sent.body ?? null,
          redirect: 'manual',
        });
        const text = await reply.text();
        statuses.add(reply.status);
        const difference = differenceOf(operation, reply, text);
        if (difference === null) continue;
        const body = typeof sent.body === 'string' ? sent.body.slice(0, 300) : '';
        differences.push(
          `${sent.method} ${sent.path.slice(0, 200)} ${body}: ${reply.status} ${difference} ${text.slice(0, 300)}`,
        );
      }
    }
  }
  expect(differences).toEqual([]);
  expect([...statuses].sort()).toEqual(expect.arrayContaining([200, 400, 401, 403, 404, 414, 426, 431, 502]));
});

/** Azure's paths and those without a version have servers of their own. */
function baseOf({ servers = [{ url: '/v1' }] }: Operation): string {
  return String(servers[0]?.url).replace(/\/$/, '');
}

let keyedControlOperations = 0;

function* requestsOf(method: string, template: string, operation: Operation): Generator<Sent> {
  const isData = operation['x-svc-plane'] === 'data';
  // Below /v1, deployments are also a provider's route. A key that cannot call models reaches the control plane.
  const isShared = !isData && template.startsWith('/deployments');
  const key = { 'x-svc-api-key': isShared ? gateway.adminKey : gateway.workspaceKey };
  const path = pathOf(template);
  // A gateway forwards requests to the control plane, whose own test sends each operation several. Here every second one has no key.
  const needsKey = operation.security.length > 0 && !isShared;
  const isBare = !isData && needsKey && keyedControlOperations++ % 2 === 0;
  if (needsKey && (isData || isBare)) yield { method, path, headers: {} };
  if (isData) {
    yield { method, path: `${path}?x=${'x'.repeat(9_000)}`, headers: key };
    yield { method, path, headers: { ...key, 'x-long': 'x'.repeat(70_000) } };
  }
  for (let i = 0; i < (isData ? requestsOfData : isBare ? 0 : 1); i++) {
    const oddness = i % 2 === 0 ? 0 : 0.15;
    const headers: Record<string, string> = { ...parametersOf(operation, 'header', oddness), ...key };
    if (isData && random() < 0.8) headers['x-svc-provider'] = pick(['@mock', '@mock', 'svc', 'openai', '@none']);
    const query = new URLSearchParams(parametersOf(operation, 'query', oddness));
    yield { method, path: `${pathOf(template)}${query.size === 0 ? '' : `?${query}`}`, ...bodyOf(operation, headers, oddness) };
  }
}

function pathOf(template: string): string {
  return template.replace(/\{\w+\}/g, () => pick(['none', 'svc_file_0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b', '%C3%9C%20']));
}

function parametersOf(operation: Operation, place: 'header' | 'query', oddness: number): Record<string, string> {
  const values: Record<string, string> = {};
  for (const { in: where, name, required, schema } of operation.parameters) {
    if (where !== place || (!required && random() < (place === 'header' ? 0.97 : 0.7))) continue;
    const value = random() < oddness ? pick(oddTexts) : String(valueFor(schema, 0));
    // fetch sends only these characters in a header.
    values[name] = place === 'header' ? value.replaceAll(/[^ -~]/g, '') : value;
  }
  return values;
}

/** Headers and body: JSON or a form, as the operation has it. */
function bodyOf(operation: Operation, headers: Record<string, string>, oddness: number): Pick<Sent, 'headers' | 'body'> {
  const [type, media] = pick(Object.entries(operation.requestBody?.content ?? {})) ?? [];
  if (!media) return { headers };
  const value = (oddness === 0 && media.example ? media.example : valueFor(media.schema, oddness)) as Record<string, unknown>;
  const hasModel = operation['x-svc-plane'] === 'data' && typeof value === 'object' && value !== null && !Array.isArray(value);
  const sent = hasModel ? { ...value, model: pick(models), ...(random() < 0.3 ? { stream: true } : {}) } : value;
  if (type === 'application/json') return { headers: { ...headers, 'content-type': type }, body: JSON.stringify(sent) };
  const form = new FormData();
  // A generated value that violates the schema may be null, which a form cannot hold.
  for (const [name, item] of Object.entries(sent ?? {})) {
    form.append(name, name === 'file' || name === 'image' ? new Blob([String(item)]) : String(item));
  }
  return { headers, body: form };
}
