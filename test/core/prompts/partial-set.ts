import type { CollectedPartials, PartialSet } from '../../../core/prompts/collect-partials.ts';
import { TemplatePartial } from '../../../core/prompts/compile-template.ts';

/** Partials by reference, which all texts can name. */
export function partialSet(texts: Readonly<Record<string, string>>): Pick<CollectedPartials, 'named' | 'byVariables'> {
  const compiled = new Map<string, TemplatePartial>();
  const set: PartialSet = {
    get(reference) {
      const partial = compiled.get(reference) ?? new TemplatePartial(texts[reference] as string);
      compiled.set(reference, partial);
      return { partial, inside: set };
    },
  };
  return { named: set, byVariables: set };
}
