import * as v from 'valibot';
import { type DocumentKind, documentSchemas } from '../contract/protocol/documents.ts';
import { messageOf } from '../contract/values/errors/message-of.ts';
import { CompileFailure, Entry, type Shelf } from './document-shelf.ts';

/** Kinds that determine a caller's identity. */
const letsIn: ReadonlySet<DocumentKind> = new Set(['api-key', 'organisation', 'workspace-name', 'user', 'oauth-grant']);

/**
 * Returns an entry for a document as it was read, or the reason why there is none: it fails its schema, it belongs to another id,
 * or a view that compiled for the old document does not compile for the new one.
 */
export function makeEntry(shelf: Shelf, id: string, input: unknown, revision: number, old: Entry | undefined): Entry | string {
  const checked = v.safeParse(documentSchemas[shelf.kind] as v.GenericSchema<unknown, { id: string }>, input);
  if (!checked.success) return issuesOf(checked.issues);
  // A wrong document of these kinds would admit an unauthorised caller.
  if (letsIn.has(shelf.kind) && checked.output.id !== id) return `it is the document of another ${shelf.kind}`;
  const entry = new Entry(id, checked.output, revision, true);
  if (!old) return entry;
  entry.used = old.used;
  // Every view that compiled for the old document must compile for the new one before the new one may serve.
  for (const view of old.derived.keys()) {
    if (old.derived[view] === undefined || old.derived[view] instanceof CompileFailure) continue;
    try {
      entry.derived[view] = shelf.views[view]?.(entry.document);
    } catch (error) {
      return messageOf(error);
    }
  }
  return entry;
}

/** Returns the value of a view. The value, or the error of compiling it, is stored beside the document. */
export function derive<T>(shelf: Shelf, entry: Entry, view: number): T {
  const known = entry.derived[view];
  if (known instanceof CompileFailure) throw known.error;
  if (known !== undefined) return known as T;
  try {
    const made = shelf.views[view]?.(entry.document) as T;
    entry.derived[view] = made;
    return made;
  } catch (error) {
    entry.derived[view] = new CompileFailure(error);
    throw error;
  }
}

/** Returns paths and expectations only, because the values of a document may be secret. */
function issuesOf(issues: readonly v.BaseIssue<unknown>[]): string {
  return issues.map((issue) => `${v.getDotPath(issue) ?? 'document'}: expected ${issue.expected ?? 'another value'}`).join('; ');
}
