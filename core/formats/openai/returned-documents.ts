import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';

/**
 * Adds documents to the results of a rerank, if the caller requested them (`return_documents`) and the provider does not return
 * them.
 */
export function withReturnedDocuments(results: readonly unknown[], { params }: OperationCall): unknown[] {
  const documents = params.return_documents === true && Array.isArray(params.documents) ? params.documents : null;
  if (documents === null) return [...results];
  return results.map((result) => {
    if (!isObject(result) || isObject(result.document) || typeof result.index !== 'number') return result;
    const document: unknown = documents[result.index];
    return document === undefined ? result : { ...result, document: isObject(document) ? document : { text: document } };
  });
}

/** Returns search units as rerank models bill them: one for every started hundred of documents. */
export function searchUnits({ documents }: JsonObject): number {
  return Array.isArray(documents) ? Math.ceil(documents.length / 100) : 0;
}
