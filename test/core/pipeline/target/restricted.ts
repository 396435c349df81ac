import { createHarness, type Harness, workspaceId } from '../../../../core/test-kit/pipeline-harness.ts';

export const json = 'application/json';

/** Models of a provider: only `good`. */
export const onlyGood: object = { allowAll: false, list: [{ slug: 'good', enabled: true, customHost: null }], headers: null };
/** Models of a provider: all except `bad`. */
export const allButBad: object = { allowAll: true, list: [{ slug: 'bad', enabled: false, customHost: null }], headers: null };

/** Returns a gateway whose provider `@one` has these models, and other fields of its document as given. */
export function restricted(models: object = onlyGood, document: object = {}): Harness {
  const harness = createHarness();
  const id = `provider ${workspaceId}/one`;
  harness.documents.set(id, { ...(harness.documents.get(id) as object), models, ...document });
  return harness;
}

export async function ask(harness: Harness, path: string, contentType: string, body: string, method = 'POST') {
  const headers = { authorization: `Bearer ${harness.key}`, 'x-svc-provider': '@one', 'content-type': contentType };
  return harness.send({ method, path, headers, body });
}
