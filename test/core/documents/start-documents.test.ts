import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EncryptionKeys } from '../../../core/contract/protocol/credentials/encryption-keys.ts';
import type { ChangeBus } from '../../../core/documents/bus.ts';
import { type GatewayDocuments, startDocuments } from '../../../core/documents/start-documents.ts';
import { type FakeControlPlane, startFakeControlPlane } from '../../support/fakes/fake-control-plane.ts';
import { type FakeTime, newFakeTime } from '../../support/fakes/fake-time.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { sampleConfig, sampleKey } from '../../support/samples/sample-documents.ts';
import { until } from '../../support/until.ts';

let plane: FakeControlPlane;
let time: FakeTime;
let dataDir: string;
let publish: (notice: unknown) => void;

beforeEach(async () => {
  plane = await startFakeControlPlane();
  time = newFakeTime();
  dataDir = await mkdtemp(join(tmpdir(), 'svc-snapshot-'));
});
afterEach(async () => {
  await plane.stop();
  await rm(dataDir, { recursive: true });
});

const firstKey = { encryptionKey: new Uint8Array(32).fill(9) };

function start(
  slot = 0,
  log = newMemoryLog(),
  clusterKey = new Uint8Array(32).fill(8),
  encryptionKeys: EncryptionKeys = firstKey,
): Promise<GatewayDocuments> {
  const bus: ChangeBus = {
    start(onNotice, onConnected) {
      publish = onNotice;
      onConnected();
    },
    close: async () => {},
  };
  return startDocuments({
    settings: { dataDir, ...encryptionKeys, clusterKey, documentCacheEntries: 1000, gatewayProcesses: 2 },
    slot,
    fetch: plane.fetch,
    bus,
    clock: time.clock,
    random: () => 0.5,
    log,
    timers: time.timers,
  });
}

/** A process that has loaded one key and one config. */
async function leaveBehind(slot = 0): Promise<void> {
  plane.put('api-key', 'key-a', sampleKey('key-a'));
  plane.put('config', 'workspace-1/main', sampleConfig('main', 'one'));
  const earlier = await start(slot);
  await earlier.documents.get('api-key', 'key-a');
  await earlier.documents.get('config', 'workspace-1/main');
  await earlier.close();
}

it('a last known good that cannot be written is logged once, and once when it can', async () => {
  const log = newMemoryLog();
  const documents = await start(0, log);
  await writeFile(join(dataDir, 'last-known-good'), 'a file instead of the directory');
  const lines = () => log.lines.filter(({ message }) => message.includes('last known good')).map(({ level }) => level);
  for (const id of ['key-a', 'key-b']) {
    plane.put('api-key', id, sampleKey(id));
    await documents.documents.get('api-key', id);
    let writes = 0;
    await until(() => {
      time.advance(60_000);
      return lines().length > 0 && ++writes > 20;
    });
  }
  await rm(join(dataDir, 'last-known-good'));
  await until(() => {
    time.advance(60_000);
    return lines().length > 1;
  });
  expect(lines()).toEqual(['warn', 'info']);
  const warning = log.lines.find(({ level }) => level === 'warn');
  expect(warning).toMatchObject({
    message: expect.stringContaining('DATA_DIR'),
    fields: { directory: join(dataDir, 'last-known-good') },
  });
  await documents.close();
});

describe('the start of the document store', () => {
  it('is complete after the first reply of the control plane, and follows changes from there', async () => {
    plane.put('config', 'workspace-1/main', sampleConfig('main', 'one'));
    const documents = await start();
    expect(documents.ready()).toBe(true);
    await documents.documents.get('config', 'workspace-1/main');
    publish(plane.put('config', 'workspace-1/main', sampleConfig('main', 'two')));
    await until(async () => (await documents.documents.get('config', 'workspace-1/main'))?.versionId === 'two');
    await documents.close();
  });

  it('waits for the control plane if there is no last known good', async () => {
    plane.mode = 503;
    const documents = await start();
    expect(documents.ready()).toBe(false);
    plane.mode = 'ok';
    time.advance(1000);
    await until(() => documents.ready());
    await documents.close();
  });

  it('reads documents again after a change of CLUSTER_KEY, because their secrets are sealed with the earlier one', async () => {
    await leaveBehind();
    plane.mode = 503;
    const log = newMemoryLog();
    const documents = await start(0, log, new Uint8Array(32).fill(7));
    expect(documents.ready()).toBe(false);
    expect(log.lines.map(({ message }) => message).join()).toContain(
      'a last-known-good file was written with other keys or by another version, or is damaged',
    );
    await documents.close();
  });

  it('keeps the documents and the pepper of API keys while ENCRYPTION_KEY is replaced, and needs the earlier key once', async () => {
    const encryptionKey = new Uint8Array(32).fill(10);
    await leaveBehind();
    const both = await start(0, undefined, undefined, { encryptionKey, encryptionKeyPrevious: firstKey.encryptionKey });
    expect(both.documents.get('api-key', 'key-a')).toMatchObject({ digest: 'A'.repeat(43) });
    both.keepApiKeyPepper(new Uint8Array(32).fill(5));
    await both.close();
    plane.mode = 503;
    const after = await start(0, undefined, undefined, { encryptionKey });
    expect(after.documents.get('api-key', 'key-a')).toMatchObject({ digest: 'A'.repeat(43) });
    expect(after.apiKeyPepper()).toEqual(new Uint8Array(32).fill(5));
    await after.close();
    const before = await start();
    expect(before.ready()).toBe(false);
    await before.close();
  });

  it('writes the documents again with a new ENCRYPTION_KEY, although none has changed', async () => {
    const encryptionKey = new Uint8Array(32).fill(10);
    await leaveBehind();
    await (await start(0, undefined, undefined, { encryptionKey, encryptionKeyPrevious: firstKey.encryptionKey })).close();
    plane.mode = 503;
    const after = await start(0, undefined, undefined, { encryptionKey });
    expect(after.documents.get('config', 'workspace-1/main')).toMatchObject({ versionId: 'one' });
    await after.close();
  });

  it('serves the documents of the last process in the slot without the control plane', async () => {
    await leaveBehind();
    plane.mode = 503;
    const documents = await start();
    expect(documents.ready()).toBe(true);
    expect(documents.documents.get('api-key', 'key-a')).toMatchObject({ digest: 'A'.repeat(43) });
    expect(documents.documents.get('config', 'workspace-1/main')).toMatchObject({ versionId: 'one' });
    const refused = documents.documents.get('api-key', 'key-b');
    time.advance(1000);
    await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
    await documents.close();
  });

  it('serves a key that another process of the machine has used, until the control plane replies', async () => {
    const unaware = await start(0);
    await leaveBehind(1);
    // As after the notices of these changes.
    await unaware.follower.catchUp();
    plane.mode = 503;
    await unaware.follower.catchUp();
    const key = Promise.resolve(unaware.documents.get('api-key', 'key-a'));
    time.advance(1000);
    expect(await key).toMatchObject({ digest: 'A'.repeat(43) });
    expect(unaware.documents.get('api-key', 'key-a')).toBeInstanceOf(Promise);
    const unknown = Promise.resolve(unaware.documents.get('api-key', 'key-b'));
    const refused = expect(unknown).rejects.toMatchObject({ code: 'unavailable' });
    time.advance(1000);
    await refused;

    plane.remove('api-key', 'key-a');
    plane.mode = 'ok';
    await until(async () => {
      time.advance(1000);
      return (await unaware.documents.get('api-key', 'key-a')) === null;
    });
    await unaware.close();
  });

  it('applies changes made while no process ran before the first request', async () => {
    await leaveBehind();
    plane.remove('api-key', 'key-a');
    plane.put('config', 'workspace-1/main', sampleConfig('main', 'two'));
    const documents = await start();
    expect(plane.requests).toContain('/internal/v1/changes?after=2');
    expect(documents.follower.counts.resets).toBe(0);
    expect(await documents.documents.get('api-key', 'key-a')).toBeNull();
    expect(await documents.documents.get('config', 'workspace-1/main')).toMatchObject({ versionId: 'two' });
    await documents.close();
  });

  it('reads everything again if too much has changed to list', async () => {
    await leaveBehind();
    plane.remove('api-key', 'key-a');
    plane.forgottenUpTo = plane.revision;
    const documents = await start();
    expect(await documents.documents.get('api-key', 'key-a')).toBeNull();
    await documents.close();
  });

  it('uses documents of other slots', async () => {
    await leaveBehind(1);
    plane.mode = 503;
    const documents = await start(0);
    expect(documents.documents.get('api-key', 'key-a')).toMatchObject({ id: 'key-a' });
    await documents.close();
  });
});

describe('the stored last known good', () => {
  it('is written within a second of a change, so that it survives a kill', async () => {
    const killed = await start();
    plane.put('api-key', 'key-a', sampleKey('key-a'));
    await killed.documents.get('api-key', 'key-a');
    time.advance(1000);
    await until(() => existsSync(join(dataDir, 'last-known-good', 'slot-0.lkg')));
    plane.mode = 503;
    const documents = await start();
    expect(documents.documents.get('api-key', 'key-a')).toMatchObject({ id: 'key-a' });
    await documents.close();
    killed.follower.stop();
  });

  it('lists changed documents that could not be read, to read them before their next use', async () => {
    await leaveBehind();
    const second = await start();
    await second.documents.get('config', 'workspace-1/main');
    await second.documents.get('api-key', 'key-a');
    const notice = plane.put('config', 'workspace-1/main', sampleConfig('main', 'two'));
    plane.mode = 503;
    publish(notice);
    expect(second.follower.lastRevision).toBe(notice.revision);
    const { confirmed } = second.follower;
    await second.close();
    plane.mode = 'ok';
    const documents = await start();
    expect(plane.requests).toContain(`/internal/v1/changes?after=${confirmed?.lastRevision}`);
    expect(await documents.documents.get('config', 'workspace-1/main')).toMatchObject({ versionId: 'two' });
    await documents.close();
  });

  it('never contains a deleted key', async () => {
    await leaveBehind();
    const second = await start();
    publish(plane.remove('api-key', 'key-a'));
    await second.close();
    plane.mode = 503;
    const documents = await start();
    const refused = documents.documents.get('api-key', 'key-a');
    time.advance(1000);
    await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
    await documents.close();
  });
});
