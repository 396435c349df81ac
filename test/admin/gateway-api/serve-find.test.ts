import { afterAll, beforeAll, expect, it } from 'vitest';
import { cachedRepliesPath, frame, unframe } from '../../../core/contract/protocol/cached-replies.ts';
import { type Plane, startPlane } from '../support/plane.ts';

let plane: Plane;
beforeAll(async () => {
  plane = await startPlane('PGlite');
});
afterAll(() => plane?.close());

const find = async (body: Uint8Array | string, key = plane.settings.clusterKeyText) => {
  const headers = { authorization: `Bearer ${key}` };
  const reply = await fetch(`${plane.url}${cachedRepliesPath}/find`, { method: 'POST', headers, body: body as never });
  return { status: reply.status, type: reply.headers.get('content-type'), body: new Uint8Array(await reply.arrayBuffer()) };
};
const question = (digest: string) =>
  frame({ workspace_id: plane.workspaceId, digest, holder: 'h', generation: 0, wait_ms: 0 }, null);
const errorOf = ({ body }: { body: Uint8Array }) => JSON.parse(Buffer.from(body).toString()).data;

it('find: replies with one line, and with the bytes of a stored entry', async () => {
  const claimed = await find(question('a'));
  expect([claimed.status, claimed.type, unframe(claimed.body).line]).toEqual([
    200,
    'application/octet-stream',
    { state: 'claimed' },
  ]);
  const labels = { namespace: null, model: null, endpoint: null, partition: null, dimensions: 0 };
  const tenant = { workspace_id: plane.workspaceId, organisation_id: plane.organisationId };
  const stored = await fetch(`${plane.url}${cachedRepliesPath}/store`, {
    method: 'POST',
    headers: { authorization: `Bearer ${plane.settings.clusterKeyText}` },
    body: frame(
      { ...tenant, digest: 'a', holder: 'h', generation: 0, ttl_ms: 60_000, ...labels },
      Buffer.from([0, 10, 255]),
    ) as never,
  });
  expect(stored.status).toBe(200);
  const { line, bytes } = unframe((await find(question('a'))).body);
  expect([line, [...bytes]]).toEqual([{ state: 'hit', ttl_ms: expect.any(Number) }, [0, 10, 255]]);
});

it.each<[string, () => Uint8Array | string, number, string]>([
  ['a line that is no JSON', () => 'no line', 400, 'body: a line of JSON is expected'],
  ['a question without its fields', () => frame({}, null), 400, 'workspace_id: required'],
  ['a body that is too long', () => 'x'.repeat(5_000), 413, 'body: larger than 4096 bytes'],
  ['no body', () => '', 400, 'body: a line of JSON is expected'],
])('find: rejects %s', async (_name, body, status, message) => {
  const reply = await find(body());
  expect([reply.status, errorOf(reply).message]).toEqual([status, message]);
});

it('find: rejects callers without the cluster key', async () => {
  const reply = await find(question('b'), 'another-key');
  expect([reply.status, errorOf(reply).message]).toEqual([401, 'The cluster key is required']);
});

it('find: counts in the metrics of the control plane', async () => {
  const countOf = async () => {
    const text = await (await fetch(`${plane.url}/metrics`)).text();
    return Number(/svc_admin_requests_total\{surface="internal",method="POST",status="200"[^}]*\} (\d+)/.exec(text)?.[1] ?? 0);
  };
  const before = await countOf();
  await find(question('c'));
  expect(await countOf()).toBe(before + 1);
});
