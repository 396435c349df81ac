import { didYouMean } from '../../../config/did-you-mean.ts';
import type { DocumentReader } from '../../contract/plugin/plugin.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';

/** Rejects with `invalid_provider` for a slug that the workspace does not have. The message may suggest another slug of this workspace. */
export async function unknownProvider(documents: DocumentReader, workspaceId: string, slug: string): Promise<never> {
  throw new GatewayError('invalid_provider', {
    message:
      `Following keys are not valid: ${slug.slice(0, 255)}. The workspace has no provider with this slug. ` +
      `GET /v1/providers lists its providers${await suggestion(documents, workspaceId, slug)}`,
    param: 'provider',
  });
}

async function suggestion(documents: DocumentReader, workspaceId: string, slug: string): Promise<string> {
  // Slugs have at most 255 characters. Longer text is not a misspelling, and comparing it would be slow.
  if (slug.length > 255) return '';
  try {
    const found = await documents.get('workspace-models', workspaceId);
    return didYouMean(slug, found?.providers.map((provider) => `@${provider.slug}`) ?? []);
  } catch {
    // The control plane is unreachable. The error itself does not depend on the suggestion.
    return '';
  }
}
