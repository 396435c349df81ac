import { join } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import type { EncryptionKeys } from '../contract/protocol/credentials/encryption-keys.ts';
import { keyPurposes } from '../contract/protocol/credentials/key-purposes.ts';
import type { InternalFetch } from '../contract/protocol/internal-api.ts';
import { deriveKey } from '../contract/values/credentials/secret.ts';
import { messageOf } from '../contract/values/errors/message-of.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { realTimers, type Timers } from '../contract/values/time/timers.ts';
import type { ChangeBus } from './bus.ts';
import { ChangeFollower } from './change-follower.ts';
import { createControlPlaneClient } from './control-plane-client.ts';
import { DocumentStore } from './document-store.ts';
import { readLastKnownGood, readOtherProcesses, writeLastKnownGood } from './last-known-good.ts';
import { createOtherProcesses } from './other-processes.ts';

export interface DocumentsOptions {
  readonly settings: EncryptionKeys & Pick<Settings, 'dataDir' | 'clusterKey' | 'documentCacheEntries' | 'gatewayProcesses'>;
  readonly slot: number;
  readonly fetch: InternalFetch;
  readonly bus: ChangeBus;
  readonly clock: Clock;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
  readonly log: Log;
  readonly timers?: Timers;
}

/** The control plane's data in this gateway process, kept up to date. */
export interface GatewayDocuments {
  readonly documents: DocumentStore;
  readonly follower: ChangeFollower;
  /** True once requests can be served: the control plane has replied, or there was a last known good. Stays true. */
  ready(): boolean;
  /** Pepper of the digests in API keys; null if neither the control plane nor the file has provided it. */
  apiKeyPepper(): Uint8Array | null;
  /** Sets that pepper, and stores it in the file. */
  keepApiKeyPepper(pepper: Uint8Array): void;
  /** Stops following and writes the file a last time. */
  close(): Promise<void>;
}

/** Maximum number of documents per kind in the file. More would take long to write. */
const storedPerKindMax = 2000;
const saveEveryMs = 1000;
/**
 * Share of time for writing the file: at most a twentieth when known documents change, and a hundredth when documents are only
 * added.
 */
const changesPause = 20;
const additionsPause = 100;

/**
 * Returns the key of the file. Secrets in documents are sealed with CLUSTER_KEY and documents do not change with it, so a file of another
 * CLUSTER_KEY must not open: its providers could not be called until each of them changes.
 */
export function diskKey({ encryptionKey, clusterKey }: Pick<Settings, 'encryptionKey' | 'clusterKey'>): Uint8Array {
  return deriveKey(Buffer.concat([encryptionKey, clusterKey]), keyPurposes.disk);
}

/**
 * Reads the last known good, starts to listen, and asks the control plane for changes since then. Resolves when the first reply
 * has arrived or failed (at most the client's deadline). Never rejects because a service is unreachable.
 */
export async function startDocuments(options: DocumentsOptions): Promise<GatewayDocuments> {
  const { settings, slot, fetch, bus, clock, random, log, timers = realTimers } = options;
  const earlier = settings.encryptionKeyPrevious;
  const disk = {
    ...{ directory: join(settings.dataDir, 'last-known-good'), slot, key: diskKey(settings), log },
    earlierKey: earlier ? diskKey({ ...settings, encryptionKey: earlier }) : null,
  };
  const client = createControlPlaneClient({ fetch, clock, timers, random, log });
  const stored = createOtherProcesses(() => readOtherProcesses(disk, settings.gatewayProcesses), timers);
  const documents = new DocumentStore({ client, clock, log, entriesMax: settings.documentCacheEntries, stored });

  const known = await readLastKnownGood(disk);
  const restored = known ? restore(documents, known.documents) : 0;
  const follower = new ChangeFollower(
    { client, store: documents, noticeKey: deriveKey(settings.clusterKey, keyPurposes.changeNotice), timers, random, log },
    known?.lastRevision ?? null,
    known?.mark,
  );
  let apiKeyPepper = known?.apiKeyPepper;
  // While ENCRYPTION_KEY is replaced, the file is written once with the new key, because the next start may no longer have the earlier one.
  let saved = { version: earlier ? -1 : documents.version, additions: documents.additions, apiKeyPepper };
  /** Until then (monotonic ms) new documents of this process alone do not cause another file. */
  let additionsFromMs = 0;
  let saving: Promise<void> = Promise.resolve();
  /** True since a write failed. Further failures are not logged. */
  let isFailing = false;
  let closed = false;
  let cancelSave: () => void = () => {};

  bus.start(
    (message) => follower.receive(message),
    () => void follower.catchUp(),
  );
  const inStep = await follower.catchUp();
  if (!inStep && restored > 0) log.warn({ restored }, 'started with the last known good documents; control plane unreachable');
  scheduleSave(saveEveryMs);

  return {
    documents,
    follower,
    ready: () => restored > 0 || follower.lastRevision !== null,
    apiKeyPepper: () => (apiKeyPepper === undefined ? null : new Uint8Array(Buffer.from(apiKeyPepper, 'base64'))),
    keepApiKeyPepper(pepper) {
      apiKeyPepper = Buffer.from(pepper).toString('base64');
    },
    async close() {
      closed = true;
      cancelSave();
      follower.stop();
      await bus.close();
      await save();
    },
  };

  function save(): Promise<void> {
    saving = saving.then(write);
    return saving;
  }

  async function write(): Promise<void> {
    const { confirmed } = follower;
    const { version, additions } = documents;
    const grown = additions !== saved.additions && (closed || clock.elapsed() >= additionsFromMs);
    const isSaved = version === saved.version && apiKeyPepper === saved.apiKeyPepper;
    if ((isSaved && !grown) || confirmed === null) return;
    const beganMs = clock.elapsed();
    // Read the revision first: a document that changes while the file is written is then newer than the file states, never older.
    try {
      const written = { version, additions, apiKeyPepper };
      await writeLastKnownGood(disk, { ...confirmed, documents: documents.keep(storedPerKindMax), apiKeyPepper });
      saved = written;
      const endedMs = clock.elapsed();
      additionsFromMs = endedMs + additionsPause * (endedMs - beganMs);
      if (isFailing) log.info({}, 'the last known good documents can be written again');
      isFailing = false;
    } catch (error) {
      if (!isFailing) {
        log.warn(
          { reason: messageOf(error), directory: disk.directory },
          'cannot write the last known good documents in DATA_DIR; a start during an outage would use older ones',
        );
      }
      isFailing = true;
    }
  }

  function scheduleSave(delayMs: number): void {
    if (closed) return;
    cancelSave = timers.after(delayMs, () => {
      const beganMs = clock.elapsed();
      void save().then(() => scheduleSave(Math.max(saveEveryMs, changesPause * (clock.elapsed() - beganMs))));
    });
  }
}

/** Least recently used first, so that the order of use is the same as before. */
function restore(documents: DocumentStore, stored: readonly Parameters<DocumentStore['restore']>[0][]): number {
  let count = 0;
  for (let i = stored.length - 1; i >= 0; i -= 1) if (documents.restore(stored[i]!)) count += 1;
  return count;
}
