import type { DocumentKind } from '../../core/contract/protocol/documents.ts';
import type { DocumentReply } from '../../core/contract/protocol/internal-api.ts';
import type { DocumentReader, DocumentSource } from '../define-resource.ts';
import { readRevision } from './read-changes.ts';

/** Reads the document of this kind and id as it is now, null if there is none, with a revision that it includes. */
export type ReadDocument = (kind: DocumentKind, id: string) => Promise<DocumentReply>;

/**
 * Returns a function that reads documents with the readers of the resources. Concurrent reads of one document at one revision share
 * one read of its rows, because each change makes all gateways ask at the same moment. Throws Error if two readers read one kind.
 */
export function createReadDocument(readers: readonly DocumentReader[], source: DocumentSource): ReadDocument {
  const byKind = new Map(readers.map((reader) => [reader.kind, reader]));
  if (byKind.size !== readers.length) throw new Error('two resources declare documents of the same kind');
  const flights = new Map<string, Promise<DocumentReply>>();
  return async (kind, id) => {
    // The revision is read first, so all later reads are at least that new.
    const revision = await readRevision(source.database.em());
    const key = `${revision} ${kind} ${id}`;
    let flight = flights.get(key);
    if (flight === undefined) {
      const read = async () => ({ revision, document: (await byKind.get(kind)?.read(source, id)) ?? null });
      flight = read().finally(() => flights.delete(key));
      flights.set(key, flight);
    }
    return flight;
  };
}
