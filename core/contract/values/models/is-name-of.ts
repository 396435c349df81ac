/**
 * True if `model` is another name of the model `slug`, in other case, with white space around it, behind a folder or region
 * (`models/gemini-3.8-flash`, `us.anthropic.claude-…`), or with a version (`gpt-4o-2024-11-20`). Providers accept such names.
 */
export function isNameOf(slug: string, model: string): boolean {
  const [known, name] = [slug.toLowerCase(), model.trim().toLowerCase()];
  return isBehindFolder(known, name) || isBehindFolder(known, name.replace(version, ''));
}

function isBehindFolder(slug: string, name: string): boolean {
  return name.endsWith(slug) && (name.length === slug.length || /[/.]/.test(name[name.length - slug.length - 1] as string));
}

/**
 * A date or number of a version (`-2024-11-20`, `-20250929`, `@20250929`, `-08-2024`, `-0613`), an alias of the latest one, and what chooses a host of
 * OpenRouter (`:nitro`). Shorter numbers are parts of names: `claude-opus-4-1` is no version of `claude-opus-4`.
 */
const version = /(?:[-@](?:\d{4}-\d{2}-\d{2}|\d{2}-\d{4}|\d{8}|\d{3,4}|latest|default)|:[a-z]+)$/;
