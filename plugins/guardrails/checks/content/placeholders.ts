import type { RequestContext } from '../../../../core/contract/plugin/context.ts';

/** Placeholders of requests that ask for restoring, with the texts that they stand for. They are discarded with the request. */
const remembered = new WeakMap<RequestContext, Map<string, string>>();

/** Returns the placeholders of a request, to be added to. */
export function rememberedOf(ctx: RequestContext): Map<string, string> {
  const known = remembered.get(ctx);
  if (known) return known;
  const placeholders = new Map<string, string>();
  remembered.set(ctx, placeholders);
  return placeholders;
}

/** Returns a text with the original texts in place of placeholders. */
export function restore(text: string, placeholders: ReadonlyMap<string, string>): string {
  return text.replace(/\{\{[A-Z][A-Z_]{1,40}_\d{1,6}\}\}/g, (placeholder) => placeholders.get(placeholder) ?? placeholder);
}
