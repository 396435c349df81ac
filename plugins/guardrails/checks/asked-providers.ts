import type { DocumentReader } from '../../../core/contract/plugin/plugin.ts';
import type { CheckServices, Subject } from './check.ts';

/**
 * Returns the types (`openai`) of the providers that the request can reach: that of the attempt, or those of all targets if none is chosen yet.
 * Providers that cannot be looked up are left out: routing reports them.
 */
export async function askedProviders({ ctx }: Subject, { documents }: CheckServices): Promise<readonly string[]> {
  if (ctx.provider !== null) return [ctx.provider];
  const names = new Set(ctx.plan.targets.map(({ provider }) => provider ?? ctx.requestTarget?.provider ?? null));
  const workspaceId = ctx.identity?.workspaceId ?? '';
  const types = await Promise.all([...names].map((name) => typeOf(name, workspaceId, documents)));
  return [...new Set(types.filter((type) => type !== null))];
}

/** Returns the provider that the request reaches, if there is only one. */
export async function askedProvider(subject: Subject, services: CheckServices): Promise<string | null> {
  const [first = null, ...others] = await askedProviders(subject, services);
  return others.length === 0 ? first : null;
}

async function typeOf(name: string | null, workspaceId: string, documents?: DocumentReader): Promise<string | null> {
  if (name === null || !name.startsWith('@')) return name;
  const slug = name.slice(1).split('/', 1)[0] as string;
  try {
    return (await documents?.get('provider', `${workspaceId}/${slug}`))?.provider ?? null;
  } catch {
    return null;
  }
}
