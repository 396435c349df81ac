import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DocumentKind } from '../../../core/contract/protocol/documents.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { isPromise } from '../../../core/contract/values/maybe.ts';
import { createControlPlaneClient } from '../../../core/documents/control-plane-client.ts';
import { DocumentStore } from '../../../core/documents/document-store.ts';
import { type FakeControlPlane, startFakeControlPlane } from '../../support/fakes/fake-control-plane.ts';
import { type FakeTime, newFakeTime } from '../../support/fakes/fake-time.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { newGate } from '../../support/gate.ts';
import { sampleConfig, sampleKey } from '../../support/samples/sample-documents.ts';
import { until } from '../../support/until.ts';

let plane: FakeControlPlane;
let time: FakeTime;
let log: ReturnType<typeof newMemoryLog>;
let store: DocumentStore;
const configId = 'workspace-1/main';

beforeEach(async () => {
  plane = await startFakeControlPlane();
  time = newFakeTime();
  log = newMemoryLog();
  store = newStore();
});
afterEach(() => plane.stop());

function newStore(timeoutMs?: number): DocumentStore {
  const { clock } = time;
  const client = createControlPlaneClient({ fetch: plane.fetch, clock, random: () => 0.5, log, timeoutMs });
  return new DocumentStore({ client, clock, log, entriesMax: 100 });
}

const versionOf = async () => (await store.get('config', configId))?.versionId;

describe('document look-ups', () => {
  it('return a known document at once, without a promise', async () => {
    plane.put('config', configId, sampleConfig('main', 'one'));
    expect(isPromise(store.get('config', configId))).toBe(true);
    await versionOf();
    expect(store.get('config', configId)).toMatchObject({ versionId: 'one' });
    expect(plane.requests).toEqual(['/internal/v1/documents/config/workspace-1%2Fmain']);
  });

  it('share one request for the same unknown document', async () => {
    plane.put('config', configId, sampleConfig('main', 'one'));
    const found = await Promise.all(Array.from({ length: 50 }, () => store.get('config', configId)));
    expect(found.every((document) => document?.versionId === 'one')).toBe(true);
    expect(plane.requests).toHaveLength(1);
  });

  it.each([
    ['longer than any id', `workspace-1/${'a'.repeat(600)}`],
    ['with a control character', 'workspace-1/a\u0000b'],
    ['with half a character', 'workspace-1/\ud800'],
    ['empty', ''],
  ])('send no request for an id that is %s', (_what, id) => {
    expect(store.get('config', id)).toBeNull();
    expect(plane.requests).toHaveLength(0);
  });

  it('remember for five seconds that a document does not exist', async () => {
    expect(await store.get('api-key', 'unknown')).toBeNull();
    expect(store.get('api-key', 'unknown')).toBeNull();
    expect(plane.requests).toHaveLength(1);
    time.advance(5001);
    expect(await store.get('api-key', 'unknown')).toBeNull();
    expect(plane.requests).toHaveLength(2);
  });

  it('ask again after the notice of a document’s creation', async () => {
    expect(await store.get('config', configId)).toBeNull();
    store.apply(plane.put('config', configId, sampleConfig('main', 'one')));
    expect(await versionOf()).toBe('one');
  });

  it('reject the document of another key', async () => {
    plane.put('api-key', 'key-a', sampleKey('key-b'));
    await expect(store.get('api-key', 'key-a')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('keep at most the configured number of documents', async () => {
    for (let i = 0; i < 120; i++) plane.put('api-key', `key-${i}`, sampleKey(`key-${i}`));
    for (let i = 0; i < 120; i++) await store.get('api-key', `key-${i}`);
    expect(store.keep(1000)).toHaveLength(50);
    expect(store.keep(1000)[0]?.id).toBe('key-119');
  });
});

describe('documents while the control plane is away', () => {
  it('keep serving if they are known, and unknown ones are never reported as missing', async () => {
    plane.put('config', configId, sampleConfig('main', 'one'));
    await versionOf();
    await plane.stop();
    time.advance(86_400_000);
    expect(store.get('config', configId)).toMatchObject({ versionId: 'one' });
    const refused = await Promise.resolve(store.get('api-key', 'unknown')).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(GatewayError);
    expect(refused).toMatchObject({ code: 'unavailable', status: 503 });
    expect((refused as GatewayError).retryAfterMs).toBeGreaterThan(0);
    await plane.restart();
  });

  it('a document of another process is not used if it has changed since that process read it', async () => {
    const other = new DocumentStore({
      ...{ clock: time.clock, log, entriesMax: 100 },
      client: { document: () => Promise.reject(new GatewayError('unavailable')) },
      stored: async (kind, id) => ({ kind, id, document: sampleKey(id), revision: 4, fresh: true }),
    });
    other.apply({ revision: 5, kind: 'api-key', id: 'key-a', op: 'delete' });
    await expect(other.get('api-key', 'key-a')).rejects.toMatchObject({ code: 'unavailable' });
    expect(await other.get('api-key', 'key-b')).toMatchObject({ id: 'key-b' });
    other.reset(6);
    await expect(other.get('api-key', 'key-c')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('a document of another process is not used if a notice names it during the look-up', async () => {
    const stored = { kind: 'api-key' as const, id: 'key-a', document: sampleKey('key-a'), revision: 1, fresh: true };
    const read = newGate();
    const asked = newGate();
    const other = new DocumentStore({
      ...{ clock: time.clock, log, entriesMax: 100 },
      client: { document: () => Promise.reject(new GatewayError('unavailable')) },
      stored: async () => {
        asked.open();
        await read.opened;
        return stored;
      },
    });
    const found = Promise.resolve(other.get('api-key', 'key-a'));
    await asked.opened;
    other.apply({ revision: 2, kind: 'api-key', id: 'key-a', op: 'delete' });
    read.open();
    await expect(found).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('fail if the control plane does not respond', async () => {
    plane.mode = 'stall';
    await expect(newStore(300).get('api-key', 'unknown')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('wait for its return if they are unknown, but not if an old version can serve', async () => {
    plane.put('config', configId, sampleConfig('main', 'one'));
    await versionOf();
    await plane.stop();
    await expect(store.get('api-key', 'key-a')).rejects.toMatchObject({ code: 'unavailable' });
    store.reset(plane.revision);
    expect(await versionOf()).toBe('one');
    plane.put('api-key', 'key-a', sampleKey('key-a'));
    const found = store.get('api-key', 'key-a');
    await plane.restart();
    time.advance(1000);
    expect(await found).toMatchObject({ id: 'key-a' });
  });

  it('treat an error reply as unknown, not as missing', async () => {
    plane.mode = 404;
    await expect(store.get('api-key', 'unknown')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('keep serving the old version if a changed one cannot be read', async () => {
    plane.put('api-key', 'key-a', sampleKey('key-a'));
    await store.get('api-key', 'key-a');
    const notice = plane.put('api-key', 'key-a', sampleKey('key-a', { scopes: ['other'] }));
    await plane.stop();
    store.apply(notice);
    expect(await store.get('api-key', 'key-a')).toMatchObject({ scopes: ['completions.write'] });
    await plane.restart();
    time.advance(1000);
    // The first request after the pause does not wait for the reload that it starts.
    expect(store.get('api-key', 'key-a')).toMatchObject({ scopes: ['completions.write'] });
    await until(async () => (await store.get('api-key', 'key-a'))?.scopes[0] === 'other');
  });

  it('are removed if their key was deleted', async () => {
    plane.put('api-key', 'key-a', sampleKey('key-a'));
    await store.get('api-key', 'key-a');
    const notice = plane.remove('api-key', 'key-a');
    await plane.stop();
    store.apply(notice);
    await expect(store.get('api-key', 'key-a')).rejects.toMatchObject({ code: 'unavailable' });
    await plane.restart();
  });
});

describe('document changes', () => {
  it('keep the old config serving until the new one is loaded', async () => {
    plane.put('config', configId, sampleConfig('main', 'one'));
    await versionOf();
    const gate = newGate();
    const notice = plane.put('config', configId, sampleConfig('main', 'two'));
    plane.holdNext(gate.opened);
    const arrived = plane.arrival();
    store.apply(notice);
    await arrived;
    expect(store.get('config', configId)).toMatchObject({ versionId: 'one' });
    gate.open();
    await until(() => (store.get('config', configId) as { versionId?: string }).versionId === 'two');
  });

  const tenant = { id: 'a', organisationId: 'organisation-1' };
  const ofWorkspace = { ...tenant, workspaceId: 'workspace-1', serverId: 'server-1', userId: 'user-1' };
  const jwt = { urls: ['https://keys.example.com/'], keys: [], issuer: null, audience: null };
  it.each<[DocumentKind, object, object]>([
    ['api-key', sampleKey('a'), { status: 'exhausted' }],
    ['oauth-grant', { ...ofWorkspace, userName: 'Ann', clientId: 'client-1', scopes: ['mcp.invoke'] }, { scopes: [] }],
    ['mcp-connection', { ...ofWorkspace, tokenId: '1', token: 'sealed', expiresAt: null }, { tokenId: '2' }],
    ['user', { ...tenant, user: { id: 'user-1', name: 'Ann', everywhere: null, places: {} } }, { user: null }],
    ['organisation', { id: 'a', jwt }, { jwt: { ...jwt, urls: [] } }],
  ])('block the old version after the notice of its change if it lets callers in: %s', async (kind, document, changes) => {
    plane.put(kind, 'a', document);
    await store.get(kind, 'a');
    const gate = newGate();
    const notice = plane.put(kind, 'a', { ...document, ...changes });
    plane.holdNext(gate.opened);
    store.apply(notice);
    const reply = store.get(kind, 'a');
    expect(isPromise(reply)).toBe(true);
    gate.open();
    expect(await reply).toMatchObject(changes);
    expect(plane.requests).toHaveLength(2);
  });

  it('read the catalogue of a workspace again after the notice of one of its providers', async () => {
    const provider = { slug: 'one', provider: 'openai', models: [] };
    plane.put('workspace-models', 'workspace-1', { ...tenant, id: 'workspace-1', providers: [provider] });
    await store.get('workspace-models', 'workspace-1');
    plane.put('workspace-models', 'workspace-1', { ...tenant, id: 'workspace-1', providers: [] });
    store.apply(plane.remove('provider', 'workspace-1/one'));
    await until(async () => (await store.get('workspace-models', 'workspace-1'))?.providers.length === 0);
  });

  it('drop a deleted document with the notice', async () => {
    plane.put('api-key', 'key-a', sampleKey('key-a'));
    await store.get('api-key', 'key-a');
    store.apply(plane.remove('api-key', 'key-a'));
    expect(await store.get('api-key', 'key-a')).toBeNull();
  });

  it('discard a reply that a notice has overtaken', async () => {
    plane.put('config', configId, sampleConfig('main', 'one'));
    const gate = newGate();
    plane.holdNext(gate.opened);
    const arrived = plane.arrival();
    const reply = store.get('config', configId);
    await arrived;
    store.apply(plane.put('config', configId, sampleConfig('main', 'two')));
    gate.open();
    expect(await reply).toMatchObject({ versionId: 'two' });
    expect(plane.requests).toHaveLength(2);
  });

  it('keep a key deleted that was deleted during its look-up', async () => {
    plane.put('api-key', 'key-a', sampleKey('key-a'));
    const gate = newGate();
    plane.holdNext(gate.opened);
    const arrived = plane.arrival();
    const reply = store.get('api-key', 'key-a');
    await arrived;
    store.apply(plane.remove('api-key', 'key-a'));
    gate.open();
    expect(await reply).toBeNull();
    expect(store.get('api-key', 'key-a')).toBeNull();
  });

  it('skip notices older than the stored document', async () => {
    const first = plane.put('config', configId, sampleConfig('main', 'one'));
    plane.put('config', configId, sampleConfig('main', 'two'));
    await versionOf();
    store.apply(first);
    expect(store.get('config', configId)).toMatchObject({ versionId: 'two' });
    expect(store.counts.refreshes).toBe(0);
    expect(store.keep(1)[0]?.fresh).toBe(true);
  });

  it('never return a key that was deleted during a failed reload', async () => {
    plane.put('api-key', 'key-a', sampleKey('key-a'));
    await store.get('api-key', 'key-a');
    const gate = newGate();
    const notice = plane.put('api-key', 'key-a', sampleKey('key-a', { scopes: [] }));
    plane.holdNext(gate.opened);
    const arrived = plane.arrival();
    store.apply(notice);
    const reply = store.get('api-key', 'key-a');
    await arrived;
    store.apply(plane.remove('api-key', 'key-a'));
    await plane.stop();
    await expect(reply).rejects.toMatchObject({ code: 'unavailable' });
    gate.open();
    await plane.restart();
  });

  it('reload an unused document only at its next use', async () => {
    plane.put('config', configId, sampleConfig('main', 'one'));
    await versionOf();
    store.apply(plane.put('config', configId, sampleConfig('main', 'two')));
    await until(() => store.counts.refreshes === 1 && store.keep(1)[0]?.fresh === true);
    store.apply(plane.put('config', configId, sampleConfig('main', 'three')));
    expect(store.counts.refreshes).toBe(1);
    expect(await versionOf()).toBe('three');
  });
});

describe('invalid documents', () => {
  it('leave the last valid version in use, and are reported', async () => {
    plane.put('config', configId, sampleConfig('main', 'one'));
    await versionOf();
    store.apply(plane.put('config', configId, { slug: 'main', secret: 'planted' }));
    await until(() => store.counts.invalid === 1);
    expect(store.get('config', configId)).toMatchObject({ versionId: 'one' });
    const report = log.lines.find((line) => line.level === 'error');
    expect(report?.fields).toMatchObject({ kind: 'config', id: configId });
    expect(JSON.stringify(report)).not.toContain('planted');
  });

  it('return 503 without a valid version, with one request for all callers', async () => {
    plane.put('config', configId, { nothing: 'of use' });
    await expect(store.get('config', configId)).rejects.toMatchObject({ code: 'unavailable' });
    expect(() => store.get('config', configId)).toThrow(GatewayError);
    expect(plane.requests).toHaveLength(1);
  });
});

describe('documents after a gap in the changes', () => {
  it('are all read again before their next use', async () => {
    plane.put('api-key', 'key-a', sampleKey('key-a'));
    plane.put('config', configId, sampleConfig('main', 'one'));
    await store.get('api-key', 'key-a');
    await versionOf();
    plane.remove('api-key', 'key-a');
    plane.put('config', configId, sampleConfig('main', 'two'));
    store.reset(plane.revision);
    expect(await store.get('api-key', 'key-a')).toBeNull();
    expect(await versionOf()).toBe('two');
  });

  it('count as read at the newest revision that a reply or the disk had, until a reset', async () => {
    plane.put('config', configId, sampleConfig('main', 'one'));
    await versionOf();
    expect(store.newest).toBe(plane.revision);
    const restarted = newStore();
    for (const stored of store.keep(10)) restarted.restore(stored);
    expect(restarted.newest).toBe(plane.revision);
    restarted.reset(0);
    expect(restarted.newest).toBe(0);
  });

  it('serve the old version if the control plane is away again', async () => {
    plane.put('config', configId, sampleConfig('main', 'one'));
    await versionOf();
    store.reset(plane.revision);
    await plane.stop();
    expect(await versionOf()).toBe('one');
    await plane.restart();
  });

  it('obey notices with lower revisions than before, as after a restore of the database', async () => {
    plane.put('config', configId, sampleConfig('main', 'one'));
    plane.put('api-key', 'key-a', sampleKey('key-a'));
    await store.get('api-key', 'key-a');
    store.reset(0);
    await plane.stop();
    store.apply({ revision: 1, kind: 'api-key', id: 'key-a', op: 'delete' });
    await expect(store.get('api-key', 'key-a')).rejects.toMatchObject({ code: 'unavailable' });
    await plane.restart();
  });

  it('discard replies that were in flight', async () => {
    plane.put('config', configId, sampleConfig('main', 'one'));
    const gate = newGate();
    plane.holdNext(gate.opened);
    const arrived = plane.arrival();
    const reply = store.get('config', configId);
    await arrived;
    plane.put('config', configId, sampleConfig('main', 'two'));
    // A restored backup: revisions start again.
    store.reset(0);
    gate.open();
    expect(await reply).toMatchObject({ versionId: 'two' });
  });
});
