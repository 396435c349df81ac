import * as v from 'valibot';
import { type DocumentKind, documentSchemas } from '../contract/protocol/documents.ts';
import { Entry, type Shelf } from './document-shelf.ts';

/** Kinds that determine a caller's identity. */
const letsIn: ReadonlySet<DocumentKind> = new Set(['api-key', 'organisation', 'workspace-name', 'user', 'oauth-grant']);

/** Returns an entry for a document as it was read, or the reason why there is none: it fails its schema, or it belongs to another id. */
export function makeEntry(shelf: Shelf, id: string, input: unknown, revision: number, old: Entry | undefined): Entry | string {
  const checked = v.safeParse(documentSchemas[shelf.kind] as v.GenericSchema<unknown, { id: string }>, input);
  if (!checked.success) return issuesOf(checked.issues);
  // A wrong document of these kinds would admit an unauthorised caller.
  if (letsIn.has(shelf.kind) && checked.output.id !== id) return `it is the document of another ${shelf.kind}`;
  const entry = new Entry(id, checked.output, revision, true);
  if (old) entry.used = old.used;
  return entry;
}

/** Returns paths and expectations only, because the values of a document may be secret. */
function issuesOf(issues: readonly v.BaseIssue<unknown>[]): string {
  return issues.map((issue) => `${v.getDotPath(issue) ?? 'document'}: expected ${issue.expected ?? 'another value'}`).join('; ');
}
