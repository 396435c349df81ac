import type { ProviderDocument } from '../../contract/protocol/documents.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { namesOf } from '../../contract/values/models/names-of.ts';
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
  const isRefused = namesOf(models.list.filter((model) => !model.enabled).map((model) => model.slug));
  const variants = new Map<string, ResolvedTarget>();
  let headers: ReturnType<Variants['headers']> | null = null;
  return (model) => {
    const entry = bySlug.get(model);
    if (!(entry?.enabled ?? (models.allowAll && !isRefused(model)))) {
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

/** True when some model may not be called. */
export function isRestricted(models: Models): boolean {
  return !models.allowAll || models.list.some((model) => !model.enabled);
}
