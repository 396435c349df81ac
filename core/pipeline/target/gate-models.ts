import type { ProviderDocument } from '../../contract/protocol/documents.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { ResolvedTarget } from './build-target.ts';

type Models = NonNullable<ProviderDocument['models']>;

interface Variants {
  /** Headers by model; called once. */
  headers(): Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The target at another host (null: its own) with these headers. */
  at(host: string | null, headers: Readonly<Record<string, string>>): ResolvedTarget;
}

/**
 * Returns `ResolvedTarget.ofModel` for an integration that restricts its models, or whose models have their own hosts and
 * headers.
 */
export function gateModels(made: ResolvedTarget, models: Models, make: Variants): (model: string) => ResolvedTarget {
  const bySlug = new Map(models.list.map((model) => [model.slug, model]));
  const refused = models.list.filter((model) => !model.enabled).map((model) => model.slug.toLowerCase());
  const variants = new Map<string, ResolvedTarget>();
  let headers: ReturnType<Variants['headers']> | null = null;
  return (model) => {
    const entry = bySlug.get(model);
    if (!(entry?.enabled ?? (models.allowAll && !refused.some((slug) => isNameOf(slug, model))))) {
      throw new GatewayError('model_not_allowed', {
        message: `Model ${model.slice(0, 255)} is not allowed for this integration`,
        param: 'model',
      });
    }
    if (!entry) return made;
    const known = variants.get(model);
    if (known) return known;
    headers ??= make.headers();
    const own = Object.hasOwn(headers, model) ? headers[model] : undefined;
    const chosen = entry.customHost === null && own === undefined ? made : make.at(entry.customHost, own ?? {});
    variants.set(model, chosen);
    return chosen;
  };
}

/**
 * True if `model` is another name of the model `slug`, which is in lower case: in other case, with white space around it, behind a folder or region
 * (`models/gemini-3.8-flash`, `us.anthropic.claude-…`), or with a version (`gpt-4o-2024-11-20`). Providers accept such names.
 */
function isNameOf(slug: string, model: string): boolean {
  const name = model.trim().toLowerCase();
  return isBehindFolder(slug, name) || isBehindFolder(slug, name.replace(version, ''));
}

function isBehindFolder(slug: string, name: string): boolean {
  return name.endsWith(slug) && (name.length === slug.length || /[/.]/.test(name[name.length - slug.length - 1] as string));
}

/**
 * A date or number of a version (`-2024-11-20`, `-20250929`, `@20250929`, `-08-2024`, `-0613`), an alias of the latest one, and what chooses a host of
 * OpenRouter (`:nitro`). Shorter numbers are parts of names: `claude-opus-4-1` is no version of `claude-opus-4`.
 */
const version = /(?:[-@](?:\d{4}-\d{2}-\d{2}|\d{2}-\d{4}|\d{8}|\d{3,4}|latest|default)|:[a-z]+)$/;

/** True when some model may not be called. */
export function isRestricted(models: Models): boolean {
  return !models.allowAll || models.list.some((model) => !model.enabled);
}
