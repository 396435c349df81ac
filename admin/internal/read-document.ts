import { type DocumentKind, type DocumentOf, documentKinds } from '../../core/contract/documents.ts';
import type { DocumentReply } from '../../core/contract/internal-api.ts';
import { isUuid } from '../db/new-id.ts';
import type { Database } from '../db/open-database.ts';
import { toOrganisationDocument, toUserDocument, toWorkspaceNameDocument } from '../identity/jwt/documents.ts';
import { readApiKeyDocuments } from '../resources/api-keys/to-document.ts';
import { toConfigDocument } from '../resources/configs/to-document.ts';
import { toModelsDocument } from '../resources/integrations/to-models-document.ts';
import { toProviderDocument } from '../resources/providers/to-document.ts';
import { toWorkspaceDocument } from '../resources/workspaces/to-document.ts';
import type { Vault } from '../secrets/vault.ts';
import { readRevision } from './read-changes.ts';

export interface DocumentSource {
  readonly database: Pick<Database, 'em' | 'ask'>;
  readonly vault: Vault;
  readonly clusterKey: Uint8Array;
}

/** The document of this kind and id as it is now, null when there is none, with a revision it is at least as new as. */
export async function readDocument(source: DocumentSource, kind: DocumentKind, id: string): Promise<DocumentReply> {
  if (kind === 'api-key') {
    const { revision, documents } = await readApiKeyDocuments(source.database, [id]);
    return { revision, document: documents[0] };
  }
  // The revision first: what is read after it is at least that new.
  const revision = await readRevision(source.database.em());
  return { revision, document: await documentOf(source, kind, id) };
}

async function documentOf(
  { database, vault, clusterKey }: DocumentSource,
  kind: Exclude<DocumentKind, 'api-key'>,
  id: string,
): Promise<DocumentOf[DocumentKind] | null> {
  const em = database.em();
  if (kind === 'workspace') return isUuid(id) ? toWorkspaceDocument(em, id) : null;
  if (kind === 'workspace-models') return isUuid(id) ? toModelsDocument(em, id) : null;
  if (kind === 'organisation') return toOrganisationDocument(em, id);
  if (kind === 'workspace-name') return toWorkspaceNameDocument(em, id);
  if (kind === 'user') return toUserDocument(em, id);
  const slash = id.indexOf('/');
  const workspaceId = id.slice(0, Math.max(slash, 0));
  if (!isUuid(workspaceId)) return null;
  const slug = id.slice(slash + 1);
  return kind === 'config'
    ? toConfigDocument(em, workspaceId, slug)
    : toProviderDocument(em, vault, clusterKey, workspaceId, slug);
}

export function isDocumentKind(text: string): text is DocumentKind {
  return (documentKinds as readonly string[]).includes(text);
}
