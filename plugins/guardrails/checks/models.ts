import * as v from 'valibot';
import { modelsInHeaders } from '../../../core/contract/plugin/requests/models-in-headers.ts';
import { furtherModels, modelsNamed } from '../../../core/contract/values/models/readable-models.ts';
import { type Check, type CheckServices, defineCheck, type Outcome, type Subject } from './check.ts';

const models = v.pipe(v.array(v.pipe(v.string(), v.minLength(1))), v.maxLength(1000));
const not = v.optional(v.boolean(), false);

/** `default.modelWhitelist`: the model of the request is in a list. */
export const modelWhitelist: Check = defineCheck({
  id: 'default.modelWhitelist',
  sides: ['input'],
  readsNoText: true,
  readsModels: true,
  parameters: v.strictObject({ models: v.pipe(models, v.minLength(1)), not }),
  prepare:
    ({ models: allowedModels, not }, sources) =>
    (subject) => {
      const model = decidingModel(subject, sources, (each) => allowedModels.includes(each) !== not);
      if (typeof model !== 'string') return model;
      const isListed = allowedModels.includes(model);
      const verdict = isListed !== not;
      const fact = isListed
        ? not
          ? 'is in the allowed list when it should not be'
          : 'is allowed'
        : 'is not in the allowed list';
      const explanation = `Model "${model}" ${fact}${!isListed && not ? ' as expected' : ''}.`;
      return { verdict, data: { verdict, not, explanation, requestedModel: model, allowedModels } };
    },
});

/** `default.modelRules`: the model is in the lists of the metadata values that match, or in the defaults if none does. */
export const modelRules: Check = defineCheck({
  id: 'default.modelRules',
  sides: ['input'],
  readsNoText: true,
  readsModels: true,
  parameters: v.strictObject({
    rules: v.pipe(
      v.strictObject({
        defaults: v.optional(models, []),
        metadata: v.optional(v.record(v.string(), v.record(v.string(), models)), {}),
      }),
      v.check(
        ({ defaults, metadata }) => defaults.length > 0 || Object.keys(metadata).length > 0,
        'expected defaults, metadata or both',
      ),
    ),
    not,
  }),
  prepare:
    ({ rules, not }, sources) =>
    (subject) => {
      const { metadata } = subject;
      const matched: string[] = [];
      const allowed = new Set<string>();
      for (const [key, values] of Object.entries(rules.metadata)) {
        const value = metadata[key];
        const list = value === undefined ? undefined : values[value];
        if (!list) continue;
        matched.push(`${key}:${value}`);
        for (const each of list) allowed.add(each);
      }
      if (matched.length === 0) for (const each of rules.defaults) allowed.add(each);
      const model = decidingModel(subject, sources, (each) => allowed.has(each) !== not);
      if (typeof model !== 'string') return model;
      const isAllowed = allowed.has(model);
      const verdict = isAllowed !== not;
      const by = matched.length > 0 ? `matched rules: ${matched.join(', ')}` : 'using default models';
      const explanation = isAllowed
        ? `Model "${model}" is allowed by rules. (${by})`
        : `Model "${model}" is not allowed by rules.`;
      return { verdict, data: { explanation } };
    },
});

/**
 * Returns the model that decides: the first of those that the provider may call and that do not pass, else the model of the request. Returns the
 * outcome of the check if the models cannot be read.
 */
function decidingModel(
  { ctx, model, operation, body }: Subject,
  { modelHeaders = [], modelsInBody, modelsInPath }: Pick<CheckServices, 'modelHeaders' | 'modelsInBody' | 'modelsInPath'>,
  passes: (model: string) => boolean,
): string | Outcome {
  try {
    // A target may replace the `model` of a unified route, but no other spelling of it. `model` is null if a form has two.
    const isReplaced = model !== null && operation !== null;
    const named = [...modelsNamed(body, (name) => name !== 'model' || !isReplaced), ...furtherModels(body)];
    if (operation === null) named.push(...(modelsInBody?.(ctx.endpoint?.proxyPath ?? '', body) ?? []));
    if (model !== null) named.unshift(model);
    // Only the provider knows which model its path selects. It is judged again when the target is known.
    const isOfTarget = operation === null && ctx.request.method === 'POST' && ctx.targetPath === null;
    const inPath = named.length === 0 && isOfTarget ? modelsInPath?.(ctx.endpoint?.proxyPath ?? '').find(passes) : undefined;
    const first = named[0] ?? inPath;
    const selected = modelsInHeaders(ctx.request, modelHeaders);
    if (first !== undefined) return [...named, ...selected].find((each) => !passes(each)) ?? first;
  } catch {
    return unreadable('The lists of further models in the request cannot be read.');
  }
  // A pass-through request that runs a model has one, wherever its provider reads it.
  return operation === null && ctx.passed !== null ? unreadable('The model of the request cannot be read.') : noModel();
}

function unreadable(explanation: string): Outcome {
  return { verdict: false, data: { explanation } };
}

function noModel(): Outcome {
  const message = 'Missing model in request';
  return { verdict: false, data: { explanation: `An error occurred: ${message}` }, error: { name: 'Error', message } };
}
