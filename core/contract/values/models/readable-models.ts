import { GatewayError } from '../errors/errors.ts';
import { isObject, isText, type JsonObject } from '../json/json.ts';
import { nestedModels } from './nested-models.ts';

/** Fields of a body that name its model. */
export const modelFields = ['model', 'modelId'] as const;

/** Models that a provider calls if `model` fails, or in its place: `models` of OpenRouter and Perplexity, `fallbacks` of Anthropic. */
const alternativeFields = ['models', 'fallbacks'] as const;

/** Returns true if the name is one of these fields in any case: some providers ignore it. */
export function isSpelling(name: string, fields: readonly string[]): boolean {
  return fields.some((field) => name.length === field.length && name.toLowerCase() === field.toLowerCase());
}

/**
 * Returns the models under every spelling of the model fields, also those of a list: a form that names its model twice has one. `isRead` chooses
 * among the names; default all.
 */
export function modelsNamed(params: JsonObject, isRead: (name: string) => boolean = () => true): string[] {
  return Object.keys(params).flatMap((name) =>
    isSpelling(name, modelFields) && isRead(name) ? [params[name]].flat().filter(isText) : [],
  );
}

/** Throws `bad_request` for another spelling of a model field, and for a model that is not a string. */
export function requireReadableModel(params: JsonObject, where: string): void {
  for (const name in params) {
    if (!isSpelling(name, modelFields)) continue;
    const value = params[name];
    if (!(modelFields as readonly string[]).includes(name) || typeof value !== 'string' || value === '') throw notOneModel(where);
  }
}

/**
 * Returns the models that a provider may call besides `model`: those of `alternativeModels`, and every model that another field names, such as that
 * of a tool. Throws what `alternativeModels` throws.
 */
export function furtherModels(params: JsonObject): string[] {
  const models = alternativeModels(params);
  for (const name in params) {
    if (!isSpelling(name, alternativeFields) && !isSpelling(name, modelFields)) nestedModels(name, params[name], models);
  }
  return models;
}

/**
 * Returns the models in `models` and `fallbacks`. Throws `bad_request` for another spelling of these fields, and for a list whose models cannot
 * be read.
 */
export function alternativeModels(params: JsonObject): string[] {
  return Object.keys(params).flatMap((name) => (isSpelling(name, alternativeFields) ? alternativesIn(name, params[name]) : []));
}

function alternativesIn(name: string, value: unknown): string[] {
  if (value === null || value === undefined) return [];
  const isReadable = (alternativeFields as readonly string[]).includes(name) && Array.isArray(value);
  if (!isReadable) throw hiddenModel(name, 'send a list of names of models');
  return (value as unknown[]).map((item) => {
    if (isObject(item)) requireReadableModel(item, `an item of ${name}`);
    const model = isObject(item) ? item.model : item;
    if (typeof model !== 'string' || model === '') throw hiddenModel(name, 'send a list of names of models');
    return model;
  });
}

/** Returns the error for a request whose model cannot be read. `where` is the part that must name it: `the body`. */
export function notOneModel(where: string): GatewayError {
  return new GatewayError('bad_request', {
    message: `model: expected exactly one string "model" in ${where}, because the models of this integration are restricted`,
    param: 'model',
  });
}

/** Returns the error for a request that may use models it does not name. `remedy` completes the sentence. */
export function hiddenModel(param: string, remedy: string): GatewayError {
  return new GatewayError('bad_request', {
    message: `${param}: models are restricted here and cannot be checked in this request; ${remedy}`,
    param,
  });
}
