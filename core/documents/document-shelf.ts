import type { LRUCache } from 'lru-cache';
import { newEntryCache } from '../contract/entry-cache.ts';
import type { DocumentKind } from '../contract/protocol/documents.ts';
import type { GatewayError } from '../contract/values/errors/errors.ts';

/** One stored document. */
export class Entry {
  readonly id: string;
  readonly document: object;
  /** The document is at least as new as this revision. */
  revision: number;
  /** False from the notice of a change until the document is read again. The only flag that the hot path checks. */
  fresh: boolean;
  /** True while the document is read again in the background and the old one serves. */
  refreshing = false;
  /** Used since it was last read. Only such entries are read again before their next use. */
  used = true;
  /** Until then (monotonic ms) a failed refresh is not retried; 0 = none failed. */
  retryAtMs = 0;

  constructor(id: string, document: object, revision: number, fresh: boolean) {
    this.id = id;
    this.document = document;
    this.revision = revision;
    this.fresh = fresh;
  }
}

/** The reason why an id has no entry: it does not exist (`error` null), or its document cannot be used. */
interface Absence {
  readonly error: GatewayError | null;
  readonly untilMs: number;
}

/** A look-up in progress. Concurrent callers for the same id share it. */
export interface Flight {
  /** A reply older than this revision predates a known change: read again. */
  minRevision: number;
  /** Set when everything read so far must be discarded. */
  again: boolean;
  promise: Promise<Entry | null>;
}

/** All entries of one kind. One map per kind, so that the hot path does not have to join kind and id. */
export interface Shelf {
  readonly kind: DocumentKind;
  readonly entries: LRUCache<string, Entry>;
  readonly absences: LRUCache<string, Absence>;
  readonly flights: Map<string, Flight>;
  /** True if an old document must not be served between the notice of its change and the next read, because it grants rights. */
  readonly waitsForFresh: boolean;
}

/** Maximum number of unknown ids per kind. Enough to absorb a flood of made-up keys, and small enough to be discarded soon. */
const absencesMax = 10_000;

/** Kinds that let callers in, or hold their credentials. */
const waiting: ReadonlySet<DocumentKind> = new Set(['api-key', 'organisation', 'user', 'mcp-connection', 'oauth-grant']);

/** `entriesMax` is the number of documents of this kind in memory. */
export function createShelf(kind: DocumentKind, entriesMax: number): Shelf {
  return {
    kind,
    entries: newEntryCache(entriesMax),
    absences: newEntryCache(Math.min(absencesMax, entriesMax)),
    flights: new Map(),
    waitsForFresh: waiting.has(kind),
  };
}
