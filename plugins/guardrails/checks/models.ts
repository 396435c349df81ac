import * as v from 'valibot';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { alternativeModels } from '../../../core/contract/values/models/readable-models.ts';
import { type Check, defineCheck, type Outcome } from './check.ts';

const models = v.pipe(v.array(v.pipe(v.string(), v.minLength(1))), v.maxLength(1000));
const not = v.optional(v.boolean(), false);

/** `default.modelWhitelist`: the model of the request is in a list. */
export const modelWhitelist: Check = defineCheck({
  id: 'default.modelWhitelist',
  sides: ['input'],
  readsNoText: true,
  parameters: v.strictObject({ models: v.pipe(models, v.minLength(1)), not }),
  prepare:
    ({ models: allowedModels, not }) =>
    ({ model: first, body }) => {
      if (first === null) return noModel();
      const others = othersIn(body);
      if (others === null) return unreadable();
      const model = [first, ...others].find((each) => allowedModels.includes(each) === not) ?? first;
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
    ({ rules, not }) =>
    ({ model: first, metadata, body }) => {
      if (first === null) return noModel();
      const others = othersIn(body);
      if (others === null) return unreadable();
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
      const model = [first, ...others].find((each) => allowed.has(each) === not) ?? first;
      const isAllowed = allowed.has(model);
      const verdict = isAllowed !== not;
      const by = matched.length > 0 ? `matched rules: ${matched.join(', ')}` : 'using default models';
      const explanation = isAllowed
        ? `Model "${model}" is allowed by rules. (${by})`
        : `Model "${model}" is not allowed by rules.`;
      return { verdict, data: { explanation } };
    },
});

/** Returns the models that a provider may call besides `model`; null if they cannot be read. */
function othersIn(body: JsonObject): string[] | null {
  try {
    return alternativeModels(body);
  } catch {
    return null;
  }
}

function unreadable(): Outcome {
  return { verdict: false, data: { explanation: 'The lists of further models in the request cannot be read.' } };
}

function noModel(): Outcome {
  const message = 'Missing model in request';
  return { verdict: false, data: { explanation: `An error occurred: ${message}` }, error: { name: 'Error', message } };
}
