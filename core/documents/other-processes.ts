import type { DocumentKind } from '../contract/protocol/documents.ts';
import type { Timers } from '../contract/values/time/timers.ts';
import type { StoredDocument } from './document-store.ts';

/** Milliseconds for which the documents of the files are used before the files are read again. */
const readEveryMs = 5000;

/**
 * Returns a look-up in the files that the other processes of the machine write. `read` returns their documents. The files are read at most every
 * five seconds, however many keys are unknown, because they may hold thousands of documents.
 */
export function createOtherProcesses(
  read: () => Promise<readonly StoredDocument[]>,
  timers: Timers,
): (kind: DocumentKind, id: string) => Promise<StoredDocument | null> {
  let known: Promise<ReadonlyMap<string, StoredDocument>> | null = null;

  return async (kind, id) => {
    known ??= load();
    return (await known).get(`${kind} ${id}`) ?? null;
  };

  async function load(): Promise<ReadonlyMap<string, StoredDocument>> {
    const documents = await read();
    timers.after(readEveryMs, () => {
      known = null;
    });
    return new Map(documents.map((document) => [`${document.kind} ${document.id}`, document]));
  }
}
