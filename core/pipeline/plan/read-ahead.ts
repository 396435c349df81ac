import type { Plan } from '../../contract/plugin/plan.ts';
import type { DocumentReader } from '../../contract/plugin/plugin.ts';
import { isPromise } from '../../contract/values/maybe.ts';

/** Maximum number of providers that are read for one plan: inline configs must not multiply requests to the control plane. */
const readsMax = 20;

/** The workspace for which the providers of a plan were last read. */
const readFor = new WeakMap<Plan, string>();

/**
 * Reads the stored providers that a request with this plan may need, in the background. Without it a process that has served only cached
 * replies, or only the first target of a fallback, could not call them while the control plane is unreachable. For plans with `readsAhead`.
 * `requestProvider`: the provider that the request names. Never throws.
 */
export function readAhead(
  documents: Pick<DocumentReader, 'get'>,
  plan: Plan,
  workspaceId: string,
  requestProvider: string | null,
): void {
  if (plan.targets.some(({ provider }) => provider === null)) read(documents, workspaceId, requestProvider);
  if (readFor.get(plan) === workspaceId) return;
  readFor.set(plan, workspaceId);
  const failed = (): void => void readFor.delete(plan);
  for (const name of new Set(plan.targets.map(({ provider }) => provider).slice(0, readsMax)))
    read(documents, workspaceId, name, failed);
}

function read(
  documents: Pick<DocumentReader, 'get'>,
  workspaceId: string,
  name: string | null,
  failed: () => void = () => {},
): void {
  if (!name?.startsWith('@')) return;
  try {
    const document = documents.get('provider', `${workspaceId}/${name.slice(1).split('/', 1)[0]}`);
    if (isPromise(document)) document.then(undefined, failed);
  } catch {
    failed();
  }
}
