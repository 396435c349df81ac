import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cachedRepliesPath, frame, unframe, vectorBytes } from '../../../../core/contract/protocol/cached-replies.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane, type Tenant } from '../../support/plane.ts';
import { type Probe, refusesMissingScopes, refusesUnknownKeys } from '../../support/refusal-suites.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const probes: readonly Probe[] = [
  { method: 'GET', path: '/admin/workspaces/ws-default/cache' },
  { method: 'GET', path: '/admin/workspaces/ws-default/cache/entries' },
  { method: 'DELETE', path: '/admin/workspaces/ws-default/cache' },
  { method: 'DELETE', path: '/admin/workspaces/ws-default/cache/entries/d' },
];
refusesUnknownKeys('cached replies', probes);
refusesMissingScopes('cached replies', probes);

interface Sent {
  readonly digest: string;
  readonly ttlMs?: number;
  readonly namespace?: string | null;
  readonly model?: string;
  readonly partition?: string | null;
  readonly vector?: readonly number[];
}

describe.each(ruleDatabases)('cached replies, on %s', (database) => {
  let plane: Plane;
  let nowMs = Date.now();
  beforeAll(async () => {
    plane = await startPlane(database, {}, { clock: { now: () => nowMs, elapsed: () => performance.now() } });
  });
  afterAll(() => plane?.close());

  async function send(call: string, line: object, bytes: Uint8Array | null = null): Promise<{ line: JsonObject; text: string }> {
    const reply = await fetch(`${plane.url}${cachedRepliesPath}/${call}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${plane.settings.clusterKeyText}` },
      body: frame(line, bytes) as never,
    });
    const body = new Uint8Array(await reply.arrayBuffer());
    if (reply.status !== 200) throw new Error(`${reply.status}: ${Buffer.from(body)}`);
    if (call === 'store') return { line: {}, text: '' };
    const read = unframe(body);
    return { line: read.line as JsonObject, text: Buffer.from(read.bytes).toString() };
  }

  /** Stores an entry whose sealed bytes are its digest: the control plane does not open them. */
  function store(
    tenant: Tenant,
    { digest, ttlMs = 60_000, namespace = null, model = 'gpt-5', partition = null, vector = [] }: Sent,
  ) {
    const line = {
      ...{ workspace_id: tenant.workspaceId, organisation_id: tenant.organisationId, holder: 'h', digest, ttl_ms: ttlMs },
      ...{ namespace, model, endpoint: 'chatComplete', partition, dimensions: vector.length },
    };
    return send('store', line, Buffer.concat([vectorBytes(Float32Array.from(vector)), Buffer.from(`sealed ${digest}`)]));
  }

  const similar = async (tenant: Tenant, partition: string, vector: readonly number[], minScore = 0.9) =>
    send('similar', { workspace_id: tenant.workspaceId, partition, min_score: minScore }, vectorBytes(Float32Array.from(vector)));
  const cachePath = () => `/admin/workspaces/${plane.workspaceId}/cache`;
  const idsOf = async (query = '') =>
    (await plane.ask('GET', `${cachePath()}/entries${query}`)).body.data.map((one: { id: string }) => one.id);

  describe('similar', () => {
    it('returns the nearest entry of the partition with at least the asked similarity', async () => {
      await store(plane, { digest: 'far', partition: 'p', vector: [0.6, 0.8] });
      await store(plane, { digest: 'near', partition: 'p', vector: [1, 0] });
      const found = await similar(plane, 'p', [0.995, Math.sqrt(1 - 0.995 ** 2)]);
      expect(found).toMatchObject({ line: { state: 'hit', digest: 'near' }, text: 'sealed near' });
      expect(found.line.score).toBeCloseTo(0.995, 5);
      expect((await similar(plane, 'p', [0, 1])).line).toEqual({ state: 'none' });
    });

    it('finds entries that were stored after an earlier search, and replaced vectors', async () => {
      expect((await similar(plane, 'grows', [1, 0])).line).toEqual({ state: 'none' });
      await store(plane, { digest: 'later', partition: 'grows', vector: [1, 0] });
      expect((await similar(plane, 'grows', [1, 0])).line).toMatchObject({ digest: 'later' });
      await store(plane, { digest: 'later', partition: 'grows', vector: [0, 1] });
      expect((await similar(plane, 'grows', [1, 0])).line).toEqual({ state: 'none' });
      expect((await similar(plane, 'grows', [0, 1])).line).toMatchObject({ digest: 'later' });
    });

    it('never returns an entry of another workspace, partition or length of vectors', async () => {
      const other = await plane.newTenant();
      await store(plane, { digest: 'mine', partition: 'own', vector: [1, 0] });
      expect((await similar(other, 'own', [1, 0])).line).toEqual({ state: 'none' });
      expect((await similar(plane, 'another', [1, 0])).line).toEqual({ state: 'none' });
      expect((await similar(plane, 'own', [1, 0, 0])).line).toEqual({ state: 'none' });
      expect((await similar(plane, 'own', [1, 0])).line).toMatchObject({ digest: 'mine' });
    });

    it('never returns an entry that was replaced by one without a vector', async () => {
      await store(plane, { digest: 'exact', partition: 'was', vector: [1, 0] });
      await similar(plane, 'was', [1, 0]);
      await store(plane, { digest: 'exact' });
      expect((await similar(plane, 'was', [1, 0])).line).toEqual({ state: 'none' });
    });

    it('never returns expired entries, and returns the next one in the place of a deleted one', async () => {
      await store(plane, { digest: 'short', partition: 'ends', vector: [1, 0], ttlMs: 1_000 });
      await store(plane, { digest: 'second', partition: 'ends', vector: [0.99, Math.sqrt(1 - 0.99 ** 2)] });
      expect((await similar(plane, 'ends', [1, 0])).line).toMatchObject({ digest: 'short' });
      expect((await plane.ask('DELETE', `${cachePath()}/entries/short`)).status).toBe(200);
      expect((await similar(plane, 'ends', [1, 0])).line).toMatchObject({ digest: 'second' });
      nowMs += 61_000;
      expect((await similar(plane, 'ends', [1, 0])).line).toEqual({ state: 'none' });
    });

    it('never returns an entry that was stored before the clock was set back', async () => {
      await store(plane, { digest: 'ahead', partition: 'back', vector: [1, 0] });
      expect((await similar(plane, 'back', [1, 0])).line).toMatchObject({ digest: 'ahead' });
      nowMs -= 600_000;
      expect((await similar(plane, 'back', [1, 0])).line).toEqual({ state: 'none' });
      nowMs += 600_000;
    });

    it('rejects vectors that are no floats, and entries without their vector', async () => {
      const line = { workspace_id: plane.workspaceId, partition: 'p', min_score: 0.9 };
      await expect(send('similar', line, new Uint8Array(3))).rejects.toThrow('400');
      await expect(send('similar', line)).rejects.toThrow('400');
      await expect(send('similar', { ...line, min_score: 2 }, new Uint8Array(4))).rejects.toThrow('min_score');
      await expect(store(plane, { digest: 'd', partition: 'p' })).rejects.toThrow('400');
    });

    it('stores vectors sealed', async () => {
      await store(plane, { digest: 'sealed', partition: 'p', vector: [1, 0] });
      const [row] = await plane.control.services.database
        .em()
        .execute<{ vector: Uint8Array }[]>("select vector from cached_replies where digest = 'sealed'");
      expect(Buffer.from(row?.vector ?? []).includes(Buffer.from(vectorBytes(Float32Array.from([1, 0]))))).toBe(false);
    });
  });

  describe('routes', () => {
    it('list entries by their labels, newest first, in pages', async () => {
      const purged = { resource: 'workspaces', action: 'purge-cache', events: [`workspace ${plane.workspaceId} upsert`] };
      await expectChange(plane, () => plane.ask('DELETE', cachePath()), purged);
      await store(plane, { digest: 'a', namespace: 'team' });
      nowMs += 1;
      await store(plane, { digest: 'b', partition: 'p', vector: [1] });
      const list = await plane.ask('GET', `${cachePath()}/entries`);
      expect(list.body).toMatchObject({ object: 'list', total: 2 });
      expect(list.body.data[0]).toEqual({
        ...{ object: 'cache-entry', id: 'b', namespace: null, model: 'gpt-5', endpoint: 'chatComplete', is_semantic: true },
        ...{ bytes: 'sealed b'.length, created_at: expect.any(String), expires_at: new Date(nowMs + 60_000).toISOString() },
      });
      expect(list.body.data[1]).toMatchObject({ id: 'a', namespace: 'team', is_semantic: false });
      expect(JSON.stringify(list.body)).not.toContain('sealed b');
      expect(await idsOf('?page_size=1&current_page=1')).toEqual(['a']);
      expect(await idsOf('?namespace=team')).toEqual(['a']);
      expect(await idsOf('?namespace=other')).toEqual([]);
    });

    it('do not list expired entries', async () => {
      await store(plane, { digest: 'expiring', ttlMs: 1_000 });
      expect(await idsOf()).toContain('expiring');
      nowMs += 2_000;
      expect(await idsOf()).not.toContain('expiring');
    });

    it('purge one entry, with an audit entry and a new document of the workspace', async () => {
      await store(plane, { digest: 'one' });
      const generation = async () =>
        (await plane.internal('GET', `/documents/workspace/${plane.workspaceId}`)).body.document.cacheGeneration as number;
      const before = await generation();
      // Entries have no version that the condition could name, so nothing is removed.
      const conditional = () => plane.ask('DELETE', `${cachePath()}/entries/one`, { headers: { 'if-match': '"1"' } });
      const { body } = await expectRefusal(plane, conditional, 400, 'AB01', true);
      expect(body.data.message).toBe('if-match: this request changes nothing that has a version. Leave the header out');
      await expectChange(plane, () => plane.ask('DELETE', `${cachePath()}/entries/one`), {
        ...{ resource: 'workspaces', action: 'purge-cache-entry', events: [`workspace ${plane.workspaceId} upsert`] },
      });
      expect(await idsOf()).not.toContain('one');
      expect(await generation()).toBe(before + 1);
      await expectRefusal(plane, () => plane.ask('DELETE', `${cachePath()}/entries/one`), 404, 'AB08', true);
    });

    it('purge one namespace and nothing else', async () => {
      await store(plane, { digest: 'x', namespace: 'n1' });
      await store(plane, { digest: 'y', namespace: 'n2' });
      expect((await plane.ask('DELETE', `${cachePath()}?namespace=n1`)).status).toBe(200);
      const ids = await idsOf();
      expect(ids).toContain('y');
      expect(ids).not.toContain('x');
    });

    it('list and purge the entries of one model, within a namespace if it is named', async () => {
      await plane.ask('DELETE', cachePath());
      for (const [digest, namespace] of [
        ['m1', null],
        ['m2', 'n3'],
      ] as const)
        await store(plane, { digest, namespace, model: 'gpt-4o' });
      await store(plane, { digest: 'm3', namespace: 'n3' });
      expect((await idsOf('?model=gpt-4o')).sort()).toEqual(['m1', 'm2']);
      expect(await idsOf('?model=gpt-4o&namespace=n3')).toEqual(['m2']);
      expect((await plane.ask('DELETE', `${cachePath()}?model=gpt-4o&namespace=n3`)).status).toBe(200);
      expect((await idsOf()).sort()).toEqual(['m1', 'm3']);
      expect((await plane.ask('DELETE', `${cachePath()}?model=gpt-4o`)).status).toBe(200);
      expect(await idsOf()).toEqual(['m3']);
    });

    it('reach nothing of another organisation', async () => {
      const other = await plane.newTenant();
      await store(other, { digest: 'theirs' });
      const path = `/admin/workspaces/${other.workspaceId}/cache`;
      for (const [method, below] of [
        ['GET', ''],
        ['GET', '/entries'],
        ['DELETE', ''],
        ['DELETE', '?namespace=n'],
        ['DELETE', '/entries/theirs'],
      ] as const) {
        expect((await plane.ask(method, `${path}${below}`)).status, `${method} ${below}`).toBe(404);
      }
      expect((await plane.ask('DELETE', `${cachePath()}/entries/theirs`)).status).toBe(404);
      expect((await plane.ask('GET', `${path}/entries`, { key: other.adminKey })).body.total).toBe(1);
    });
  });
});
