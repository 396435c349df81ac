import * as v from 'valibot';
import { newEntryCache } from '../contract/entry-cache.ts';
import type { DocumentReader } from '../contract/plugin/plugin.ts';
import { type DocumentKind, type DocumentOf, documentKinds, documentSchemas } from '../contract/protocol/documents.ts';
import type { DocumentReply } from '../contract/protocol/internal-api.ts';
import type { ChangeNotice } from '../contract/protocol/notices/change-notice.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { Maybe } from '../contract/values/maybe.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import type { ControlPlaneClient } from './control-plane-client.ts';
import { createShelf, Entry, type Flight, type Shelf } from './document-shelf.ts';
import { makeEntry } from './make-entry.ts';

export interface DocumentStoreOptions {
  readonly client: Pick<ControlPlaneClient, 'document'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Maximum number of documents of all kinds together. */
  readonly entriesMax: number;
  /** Returns the document that another process of the machine has stored, or null. Called if the control plane cannot be read. Default: none. */
  readonly stored?: (kind: DocumentKind, id: string) => Promise<StoredDocument | null>;
}

/** Counts since start. `invalid`: documents that were rejected because they cannot be used. */
export interface DocumentCounts {
  hits: number;
  misses: number;
  refreshes: number;
  invalid: number;
}

/** One document as stored on disk. */
export interface StoredDocument {
  readonly kind: DocumentKind;
  readonly id: string;
  readonly document: unknown;
  readonly revision: number;
  /** False: a change of it was known but not read yet. */
  readonly fresh: boolean;
}

/** Time for which an id counts as unknown, and an unusable document as unusable. */
const absentMs = 5000;
const unusableMs = 1000;
/** Pause after the control plane failed to reply to a refresh. The old document serves meanwhile. */
const retryMs = 500;
/** Concurrent look-ups of one kind. Further callers are asked to retry later. */
const flightsMax = 1000;
/** Number of changes that are remembered. The files of other processes are usually rewritten within a second. */
const changesMax = 10_000;
const refreshesAtOnce = 16;
/** Printable ASCII, up to the length of the longest id in a change notice. */
const possibleId = /^[\x21-\x7e]{1,600}$/;

/**
 * The documents of a gateway process, fetched on demand and kept until a change notice names them.
 *
 * - A known document is served at once, in every state of the control plane.
 * - An unknown one is looked up once for all concurrent callers. If the control plane cannot be read, the document of another process of the
 *   machine serves until it can. GatewayError `unavailable` if there is none.
 * - A changed one that is in use is read again at once, and the old one serves until then. Keys wait instead, so that a withdrawn
 *   right ends with the notice. A changed one that is not in use is read at its next use. A deleted one is removed with the notice.
 */
export class DocumentStore implements DocumentReader {
  readonly counts: DocumentCounts = { hits: 0, misses: 0, refreshes: 0, invalid: 0 };
  /** Incremented when a document that `keep()` returned before has changed. */
  version = 0;
  /** Incremented when a new document is added. */
  additions = 0;
  /** Newest revision at which a document was read. */
  newest = 0;

  readonly #shelves: Record<DocumentKind, Shelf>;
  readonly #client: Pick<ControlPlaneClient, 'document'>;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #stored: NonNullable<DocumentStoreOptions['stored']>;
  /** Revisions of the last changes by kind and id. The file of another process may be older than the end of a key, if its disk is full. */
  readonly #changes = newEntryCache<string, number>(changesMax);
  /** Revision of the last `reset`. */
  #resetRevision = 0;
  readonly #refreshQueue: (readonly [Shelf, Entry])[] = [];
  #refreshing = 0;

  constructor(options: DocumentStoreOptions) {
    this.#client = options.client;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#stored = options.stored ?? (async () => null);
    // Each kind has its own share, so that many keys, by far the most numerous kind, do not evict documents of other kinds.
    const shelf = (kind: DocumentKind, share: number) => createShelf(kind, Math.max(1, Math.floor(options.entriesMax * share)));
    this.#shelves = {
      'api-key': shelf('api-key', 0.5),
      config: shelf('config', 0.14),
      provider: shelf('provider', 0.14),
      guardrail: shelf('guardrail', 0.02),
      prompt: shelf('prompt', 0.02),
      'prompt-partial': shelf('prompt-partial', 0.02),
      'mcp-server': shelf('mcp-server', 0.02),
      'mcp-connection': shelf('mcp-connection', 0.02),
      'agent-server': shelf('agent-server', 0.01),
      'signing-key': shelf('signing-key', 0),
      'oauth-grant': shelf('oauth-grant', 0.02),
      workspace: shelf('workspace', 0.09),
      'workspace-models': shelf('workspace-models', 0.01),
      'workspace-policies': shelf('workspace-policies', 0.01),
      'workspace-name': shelf('workspace-name', 0.005),
      organisation: shelf('organisation', 0.015),
      user: shelf('user', 0.03),
    };
  }

  get<Kind extends DocumentKind>(kind: Kind, id: string): Maybe<DocumentOf[Kind] | null> {
    const shelf = this.#shelves[kind];
    const entry = shelf.entries.get(id);
    if (entry?.fresh) {
      entry.used = true;
      this.counts.hits += 1;
      return entry.document as DocumentOf[Kind];
    }
    const found = this.#find(shelf, id, entry);
    if (found instanceof Promise) return found.then((later) => (later?.document ?? null) as DocumentOf[Kind] | null);
    return (found?.document ?? null) as DocumentOf[Kind] | null;
  }

  /** Applies a change notice. Old and repeated notices have no effect. */
  apply(notice: ChangeNotice): void {
    this.#applyOne(notice);
    // The catalogue is made of the workspace's providers, so it changes with each of them.
    if (notice.kind !== 'provider') return;
    const workspaceId = notice.id.slice(0, Math.max(0, notice.id.indexOf('/')));
    this.#applyOne({ revision: notice.revision, kind: 'workspace-models', id: workspaceId, op: 'upsert' });
  }

  #applyOne(notice: ChangeNotice): void {
    const shelf = this.#shelves[notice.kind];
    this.#changes.set(`${notice.kind} ${notice.id}`, notice.revision);
    shelf.absences.delete(notice.id);
    const flight = shelf.flights.get(notice.id);
    if (flight) flight.minRevision = Math.max(flight.minRevision, notice.revision);
    const entry = shelf.entries.peek(notice.id);
    if (!entry || entry.revision >= notice.revision) return;
    if (notice.op === 'delete') this.#drop(shelf, notice.id);
    else this.#expire(shelf, entry);
  }

  /** Handles missed changes whose ids are unknown: every document is read again before its next use, if possible. */
  reset(revision: number): void {
    for (const kind of documentKinds) {
      const shelf = this.#shelves[kind];
      shelf.absences.clear();
      for (const flight of shelf.flights.values()) {
        flight.minRevision = revision;
        flight.again = true;
      }
      for (const entry of shelf.entries.values()) {
        // Revisions may have restarted: everything read from now on is newer than this.
        entry.revision = 0;
        entry.fresh = false;
        entry.refreshing = false;
        entry.retryAtMs = 0;
      }
    }
    this.#changes.clear();
    this.#resetRevision = revision;
    this.newest = revision;
    this.version += 1;
  }

  /** Returns the most recently used documents, at most `perKindMax` of each kind, newest use first. */
  keep(perKindMax: number): StoredDocument[] {
    const stored: StoredDocument[] = [];
    for (const kind of documentKinds) {
      let left = perKindMax;
      for (const { id, document, revision, fresh } of this.#shelves[kind].entries.values()) {
        if (left-- === 0) break;
        stored.push({ kind, id, document, revision, fresh });
      }
    }
    return stored;
  }

  /** Restores a document from disk. False if it does not match its schema. */
  restore(stored: StoredDocument): boolean {
    const checked = v.safeParse(documentSchemas[stored.kind] as v.GenericSchema<unknown, object>, stored.document);
    if (!checked.success) return false;
    const entry = new Entry(stored.id, checked.output, stored.revision, stored.fresh);
    // This process has not requested the document yet, so a change to it is not read until the next request.
    entry.used = false;
    this.#shelves[stored.kind].entries.set(stored.id, entry);
    this.newest = Math.max(this.newest, stored.revision);
    return true;
  }

  /** Returns an entry that is missing or stale. */
  #find(shelf: Shelf, id: string, entry: Entry | undefined): Maybe<Entry | null> {
    // Ids contain slugs as callers sent them. An id that no document can have is not requested: a URL that the control plane
    // cannot parse would count as an outage of the control plane for all callers.
    if (!possibleId.test(id)) return null;
    if (entry) return this.#findStale(shelf, entry);
    const absence = shelf.absences.get(id);
    if (absence && this.#clock.elapsed() < absence.untilMs) {
      this.counts.hits += 1;
      if (absence.error) throw absence.error;
      return null;
    }
    this.counts.misses += 1;
    return this.#fetch(shelf, id);
  }

  #findStale(shelf: Shelf, entry: Entry): Maybe<Entry | null> {
    entry.used = true;
    if (entry.refreshing || this.#clock.elapsed() < entry.retryAtMs) return entry;
    if (entry.retryAtMs > 0) {
      // The last read failed a moment ago, so callers do not wait for this one.
      this.#refresh(shelf, entry);
      return entry;
    }
    this.counts.misses += 1;
    return this.#fetch(shelf, entry.id).catch((error: unknown) => {
      // Skipped if the document was deleted in the meantime.
      if (shelf.entries.peek(entry.id) !== entry) throw error;
      entry.retryAtMs = this.#clock.elapsed() + retryMs;
      return entry;
    });
  }

  #expire(shelf: Shelf, entry: Entry): void {
    entry.fresh = false;
    entry.retryAtMs = 0;
    this.version += 1;
    if (!entry.used) return;
    entry.used = false;
    this.#refresh(shelf, entry, shelf.waitsForFresh);
  }

  #drop(shelf: Shelf, id: string): void {
    if (shelf.entries.delete(id)) this.version += 1;
  }

  #refresh(shelf: Shelf, entry: Entry, callersWait = false): void {
    entry.refreshing = !callersWait;
    this.#refreshQueue.push([shelf, entry]);
    this.#pumpRefreshes();
  }

  #pumpRefreshes(): void {
    while (this.#refreshing < refreshesAtOnce) {
      const next = this.#refreshQueue.shift();
      if (!next) return;
      const [shelf, entry] = next;
      if (shelf.entries.peek(entry.id) !== entry) continue;
      this.#refreshing += 1;
      this.counts.refreshes += 1;
      this.#fetch(shelf, entry.id)
        .catch(() => {
          entry.retryAtMs = this.#clock.elapsed() + retryMs;
        })
        .finally(() => {
          entry.refreshing = false;
          this.#refreshing -= 1;
          this.#pumpRefreshes();
        });
    }
  }

  #fetch(shelf: Shelf, id: string): Promise<Entry | null> {
    const running = shelf.flights.get(id);
    if (running) return running.promise;
    if (shelf.flights.size >= flightsMax) return Promise.reject(new GatewayError('overloaded', { retryAfterMs: 1000 }));
    const flight: Flight = { minRevision: 0, again: false, promise: Promise.resolve(null) };
    shelf.flights.set(id, flight);
    flight.promise = this.#read(shelf, id, flight);
    return flight.promise;
  }

  async #read(shelf: Shelf, id: string, flight: Flight): Promise<Entry | null> {
    try {
      for (let attempt = 0; attempt < 5; attempt += 1) {
        flight.again = false;
        const isNew = shelf.entries.peek(id) === undefined;
        const reply = await this.#client.document(shelf.kind, id, isNew).catch(async (error: unknown) => {
          const entry = isNew ? await this.#fromOtherProcess(shelf, id, flight) : null;
          if (entry === null) throw error;
          return entry;
        });
        if (reply instanceof Entry) return reply;
        // A notice overtook this reply, so its content predates that change.
        if (flight.again || reply.revision < flight.minRevision) continue;
        return this.#store(shelf, id, reply);
      }
      throw new GatewayError('unavailable', { detail: `${shelf.kind} changes again each time it is read`, retryAfterMs: 1000 });
    } finally {
      // In the same turn as the store: the next notice must not find a flight that has already ended.
      shelf.flights.delete(id);
    }
  }

  /**
   * Returns an entry that is read again as soon as the control plane replies. Null if there is none, or if the document has changed since the other
   * process read it.
   */
  async #fromOtherProcess(shelf: Shelf, id: string, flight: Flight): Promise<Entry | null> {
    const stored = await this.#stored(shelf.kind, id);
    const changedAt = Math.max(this.#changes.get(`${shelf.kind} ${id}`) ?? 0, flight.minRevision, this.#resetRevision);
    if (stored === null || flight.again || stored.revision < changedAt) return null;
    if (!this.restore({ ...stored, fresh: false })) return null;
    this.additions += 1;
    return shelf.entries.get(id) ?? null;
  }

  #store(shelf: Shelf, id: string, reply: DocumentReply): Entry | null {
    this.newest = Math.max(this.newest, reply.revision);
    if (reply.document === null) {
      shelf.absences.set(id, { error: null, untilMs: this.#clock.elapsed() + absentMs });
      this.#drop(shelf, id);
      return null;
    }
    const old = shelf.entries.peek(id);
    const made = makeEntry(shelf, id, reply.document, reply.revision, old);
    if (made instanceof Entry) {
      shelf.absences.delete(id);
      shelf.entries.set(id, made);
      if (old) this.version += 1;
      else this.additions += 1;
      return made;
    }
    this.counts.invalid += 1;
    this.#log.error(
      { kind: shelf.kind, id, revision: reply.revision, reason: made },
      old ? 'a changed document is invalid; keeping the previous one' : 'a document is invalid',
    );
    if (old) {
      old.revision = reply.revision;
      old.fresh = true;
      return old;
    }
    const error = new GatewayError('unavailable', {
      detail: `${shelf.kind} document cannot be used: ${made}`,
      retryAfterMs: 1000,
    });
    shelf.absences.set(id, { error, untilMs: this.#clock.elapsed() + unusableMs });
    throw error;
  }
}
