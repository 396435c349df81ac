import type { CollectedPartials, PartialSet } from '../../../core/prompts/collect-partials.ts';
import { TemplatePartial } from '../../../core/prompts/compile-template.ts';

/** Partials by reference, which all texts can name. */
export function partialSet(texts: Readonly<Record<string, string>>): Pick<CollectedPartials, 'named' | 'byVariables'> {
  const set: PartialSet = {
    get: (reference) => ({ partial: new TemplatePartial(texts[reference] as string), inside: set }),
  };
  return { named: set, byVariables: set };
}
