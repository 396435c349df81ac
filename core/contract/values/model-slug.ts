/**
 * `@slug/model` as its two parts, the slug with its `@`; null for a plain model name (data-plane §4.4). Names that begin `@cf/` or
 * `@hf/` are models of providers that call them so.
 */
export function splitModelSlug(model: string): { readonly slug: string; readonly model: string } | null {
  if (model.charCodeAt(0) !== 64 || model.startsWith('@cf/') || model.startsWith('@hf/')) return null;
  const end = model.indexOf('/');
  if (end <= 1) return null;
  return { slug: model.slice(0, end), model: model.slice(end + 1) };
}
