/**
 * Returns a test for other names of these models: in other case, with white space around them, behind a folder or region (`models/gemini-3.8-flash`,
 * `us.anthropic.claude-…`), or with versions and hosts (`gpt-4o-2024-11-20:nitro`). Providers accept such names. The test also returns true for names
 * that are too long for any model.
 */
export function namesOf(slugs: readonly string[]): (model: string) => boolean {
  if (slugs.length === 0) return () => false;
  const known = slugs.map((slug) => slug.toLowerCase());
  return (model) => {
    const names = shorterNames(model.trim().toLowerCase());
    return names === null || names.some((name) => known.some((slug) => isBehindFolder(slug, name)));
  };
}

/** Returns a name, and what is left of it without each of its endings. Null if it is too long. */
function shorterNames(name: string): string[] | null {
  if (name.length > nameCharsMax) return null;
  const names = [name];
  for (let rest = name.replace(ending, ''); rest !== names.at(-1); rest = rest.replace(ending, '')) names.push(rest);
  return names;
}

function isBehindFolder(slug: string, name: string): boolean {
  return name.endsWith(slug) && (name.length === slug.length || /[/.]/.test(name[name.length - slug.length - 1] as string));
}

/** Maximum length of a name that is compared. It limits the number of endings, which a caller chooses. */
const nameCharsMax = 255;

/**
 * A date or number of a version (`-2024-11-20`, `-20250929`, `@20250929`, `-08-2024`, `-0613`), an alias of the latest one, what chooses a host at
 * OpenRouter or Hugging Face (`:nitro`, `:fireworks-ai`), and a preset of OpenRouter (`@preset/mine`). Shorter numbers are parts of names:
 * `claude-opus-4-1` is no version of `claude-opus-4`.
 */
const ending = /(?:[-@](?:\d{4}-\d{2}-\d{2}|\d{2}-\d{4}|\d{8}|\d{3,4}|latest|default)|:[a-z][a-z-]*|@preset\/[\w-]+)$/;
