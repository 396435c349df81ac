/**
 * Splits `@slug/model` into its two parts, the slug with its `@`; null for a plain model name. Names that begin with `@cf/` or
 * `@hf/` are plain model names of their providers.
 */
export function splitModelSlug(model: string): { readonly slug: string; readonly model: string } | null {
  if (model.charCodeAt(0) !== 64 || model.startsWith('@cf/') || model.startsWith('@hf/')) return null;
  const end = model.indexOf('/');
  if (end <= 1) return null;
  return { slug: model.slice(0, end), model: model.slice(end + 1) };
}
