import { describe, expect, it } from 'vitest';
import type { WorkspaceDocument } from '../../../core/contract/protocol/documents.ts';
import { createHarness, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';

/** The sources of metadata, in descending priority. */
const sources = ['workspace', 'key', 'request', 'mapped header', 'baggage'] as const;
type Source = (typeof sources)[number];
type Metadata = Record<string, string>;

interface Sent extends Partial<Record<Source, Metadata>> {
  /** The body's `user`. */
  readonly user?: string;
  /** The owner of a user's key, and the workspace's setting for user names. */
  readonly owner?: string;
  readonly nameOwner?: boolean;
  readonly ownerGivesWay?: boolean;
  readonly keyPrefix?: string;
}

async function recorded(sent: Sent, headers: Record<string, string> = {}): Promise<Metadata> {
  const mapped = sent['mapped header'] ?? {};
  const gateway = createHarness({
    headersToMetadata: { names: Object.keys(mapped), keyPrefix: sent.keyPrefix ?? '' },
    key: {
      defaults: { configSlug: null, metadata: sent.key ?? {}, allowConfigOverride: true },
      ...(sent.owner === undefined ? {} : { userId: 'u-1', userName: sent.owner }),
    },
  });
  const name = `workspace ${workspaceId}`;
  gateway.documents.set(name, {
    ...(gateway.documents.get(name) as WorkspaceDocument),
    metadata: sent.workspace ?? {},
    settings: {
      blockInlineConfig: false,
      debugLog: true,
      userKeyMetadata: sent.nameOwner ?? false,
      userKeyMetadataOverride: sent.ownerGivesWay ?? false,
      cacheTtlSeconds: null,
    },
  });
  const baggage = Object.entries(sent.baggage ?? {}).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  const reply = await gateway.send({
    body: { model: '@one/gpt-5', messages: [], ...(sent.user === undefined ? {} : { user: sent.user }) },
    headers: {
      ...(sent.request ? { 'x-svc-metadata': JSON.stringify(sent.request) } : {}),
      ...(baggage.length > 0 ? { baggage: baggage.join(',') } : {}),
      ...mapped,
      ...headers,
    },
  });
  expect(reply.status).toBe(200);
  return gateway.records[0]?.metadata as Metadata;
}

describe('metadata by source', () => {
  const pairs = sources.flatMap((strong, index) => sources.slice(index + 1).map((weak) => ({ strong, weak })));
  it.each(pairs)('$strong overrides $weak for the same key, and both stay if keys differ', async ({ strong, weak }) => {
    const sent = { [strong]: { team: strong }, [weak]: { team: weak, other: 'y' } };
    expect(await recorded(sent)).toEqual({ team: strong, other: 'y' });
  });

  it('is the union of all sources', async () => {
    const each = Object.fromEntries(sources.map((source, index) => [source, { [`k${index}`]: source }]));
    expect(await recorded(each)).toEqual(Object.fromEntries(sources.map((source, index) => [`k${index}`, source])));
  });

  it('names mapped headers as listed in the setting, in any case of the client, after the prefix', async () => {
    const sent = { 'mapped header': { 'x-team': 'red' } };
    expect(await recorded(sent)).toEqual({ 'x-team': 'red' });
    expect(await recorded({ ...sent, keyPrefix: 'header.' })).toEqual({ 'header.x-team': 'red' });
  });

  it('cuts implicit values to 128 characters', async () => {
    const long = 'x'.repeat(200);
    const cut = 'x'.repeat(128);
    expect(await recorded({ 'mapped header': { 'x-team': long }, baggage: { b: long }, user: long })).toEqual({
      'x-team': cut,
      b: cut,
      _user: cut,
    });
  });
});

describe('_user', () => {
  it.each<[string, Sent, string | undefined]>([
    ['nobody', {}, undefined],
    ['the body, where nobody else says it', { user: 'body' }, 'body'],
    ['the request before the body', { user: 'body', request: { _user: 'request' } }, 'request'],
    ['the key before the request', { user: 'body', request: { _user: 'request' }, key: { _user: 'key' } }, 'key'],
    ['the workspace before the key', { key: { _user: 'key' }, workspace: { _user: 'workspace' } }, 'workspace'],
    ['baggage before the body', { user: 'body', baggage: { _user: 'baggage' } }, 'baggage'],
    ['not the owner of the key unless asked for', { owner: 'Ann' }, undefined],
    ['the owner of the key', { owner: 'Ann', nameOwner: true }, 'Ann'],
    ['the owner before the body', { owner: 'Ann', nameOwner: true, user: 'body' }, 'Ann'],
    ['the owner before the request', { owner: 'Ann', nameOwner: true, request: { _user: 'request' } }, 'Ann'],
    ['the owner before the workspace', { owner: 'Ann', nameOwner: true, workspace: { _user: 'workspace' } }, 'Ann'],
    ['nobody where a key has no owner', { nameOwner: true }, undefined],
    ['the owner, who gives way to nobody', { owner: 'Ann', nameOwner: true, ownerGivesWay: true }, 'Ann'],
    ['the body, to which the owner gives way', { owner: 'Ann', nameOwner: true, ownerGivesWay: true, user: 'body' }, 'body'],
    [
      'the request, to which the owner gives way',
      { owner: 'Ann', nameOwner: true, ownerGivesWay: true, request: { _user: 'request' } },
      'request',
    ],
    [
      'the workspace, to which the owner gives way',
      { owner: 'Ann', nameOwner: true, ownerGivesWay: true, workspace: { _user: 'workspace' } },
      'workspace',
    ],
    ['not the owner where giving way is all that is said', { owner: 'Ann', ownerGivesWay: true }, undefined],
  ])('metadata _user comes from %s', async (_who, sent, expected) => {
    expect((await recorded(sent))._user).toBe(expected);
  });
});

describe('baggage', () => {
  it.each([
    ['a=1, b = 2 ;property;p=3,c=%C3%A4', { a: '1', b: '2', c: 'ä' }],
    ['a=1,,=2,no-value,b c=3,d=%ZZ,e=%00,f=', { a: '1', f: '' }],
    ['__proto__=x,a=1', { a: '1' }],
    [`${'k'.repeat(129)}=1,a=1`, { a: '1' }],
    [
      Array.from({ length: 60 }, (_, i) => `k${i}=v`).join(','),
      Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, 'v'])),
    ],
  ])('%s', async (baggage, expected) => {
    const metadata = await recorded({}, { baggage });
    expect(Object.entries(metadata)).toEqual(Object.entries(expected));
  });
});

describe('a W3C trace context', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

  async function spans(headers: Record<string, string>) {
    const gateway = createHarness();
    await gateway.send({ body: { model: '@one/gpt-5', messages: [] }, headers });
    const { traceId, spanId, parentSpanId, spanName } = gateway.records[0] ?? {};
    return { traceId, spanId, parentSpanId, spanName };
  }

  it('provides the trace, the parent, and a span named after the route', async () => {
    expect(await spans({ traceparent })).toEqual({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentSpanId: 'b7ad6b7169203331',
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
      spanName: null,
    });
  });

  it('is overridden by the request’s own headers', async () => {
    const own = { 'x-svc-span-id': 's', 'x-svc-parent-span-id': 'p', 'x-svc-span-name': 'n' };
    expect(await spans({ traceparent, ...own })).toMatchObject({ spanId: 's', parentSpanId: 'p', spanName: 'n' });
    // The parent belongs to another trace.
    expect(await spans({ traceparent, 'x-svc-trace-id': 'mine' })).toEqual({
      traceId: 'mine',
      spanId: null,
      parentSpanId: null,
      spanName: null,
    });
  });

  it('is absent by default', async () => {
    expect(await spans({ traceparent: '00-no-trace-01' })).toMatchObject({ spanId: null, parentSpanId: null, spanName: null });
  });
});
