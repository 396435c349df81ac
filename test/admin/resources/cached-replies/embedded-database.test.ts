import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cachedRepliesPath, frame, unframe } from '../../../../core/contract/protocol/cached-replies.ts';
import { newGate } from '../../../support/gate.ts';
import { type Plane, startPlane } from '../../support/plane.ts';

describe('cached replies, while the embedded database runs a transaction', () => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane('PGlite');
  });
  afterAll(() => plane?.close());

  async function send(call: string, more: object, bytes: Uint8Array | null = null): Promise<Uint8Array> {
    const line = { workspace_id: plane.workspaceId, digest: 'd', holder: 'h', ...more };
    const reply = await fetch(`${plane.url}${cachedRepliesPath}/${call}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${plane.settings.clusterKeyText}` },
      body: frame(line, bytes) as never,
    });
    expect(reply.status).toBe(200);
    return new Uint8Array(await reply.arrayBuffer());
  }
  const find = async (generation: number) => unframe(await send('find', { generation, wait_ms: 0 }));

  it('are served from memory, and after a purge no longer', async () => {
    const labels = { namespace: null, model: null, endpoint: null, partition: null, dimensions: 0 };
    const stored = { organisation_id: plane.organisationId, ttl_ms: 60_000, generation: 3, ...labels };
    await send('store', stored, Buffer.from('sealed'));
    const [began, gate] = [newGate(), newGate()];
    const transaction = plane.control.services.database.em().transactional(async (tx) => {
      await tx.execute('select 1');
      began.open();
      await gate.opened;
    });
    await began.opened;
    // The only connection is in use. A read of the table would wait for the end of the transaction.
    const { line, bytes } = await find(3);
    expect(line).toMatchObject({ state: 'hit' });
    expect(Buffer.from(bytes).toString()).toBe('sealed');
    gate.open();
    await transaction;
    const purge = await plane.ask('DELETE', `/admin/workspaces/${plane.workspaceId}/cache/entries/d`);
    expect(purge.status).toBe(200);
    expect((await find(4)).line).toEqual({ state: 'claimed' });
  });
});
