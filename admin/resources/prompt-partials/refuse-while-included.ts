import { counted } from '../../../core/contract/values/text/counted.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { conflict } from '../../http/errors.ts';
import type { PromptPartial } from './entity.ts';
import { usesOf } from './used-by.ts';

/** Maximum number of slugs of each kind in the error message. */
const namedMax = 20;

/** Throws AB07 if prompts or partials include the partial in a version that requests can reach without naming its number. */
export async function refuseWhileIncluded(em: EntityManager, partial: PromptPartial): Promise<void> {
  const { uses, elsewhere } = await usesOf(em, partial);
  const listed = (['prompt', 'partial'] as const).flatMap((type) => {
    const direct = uses.filter((use) => use.type === type && use.via.length === 0);
    const slugs = [...new Set(direct.map(({ slug }) => slug))];
    const more = slugs.length > namedMax ? ', …' : '';
    return slugs.length === 0 ? [] : [`${counted(slugs.length, type)} (${slugs.slice(0, namedMax).join(', ')}${more})`];
  });
  if (elsewhere > 0) listed.push(`${counted(elsewhere, 'version')} in other workspaces`);
  if (listed.length === 0) return;
  throw conflict(
    `The partial ${partial.slug} is included by ${listed.join(' and by ')}. Change them first, or delete it with force=true: requests for them then fail`,
  );
}
