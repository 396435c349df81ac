import { badParam } from '../../formats/bad-param.ts';

/** Prefixes of cross-region inference profiles: `us.anthropic.claude-…` is served somewhere in the United States. */
const geographies = /^(global|us-gov|us|eu|apac|au|jp|ca|sa|me|af|il|mx|in|kr|uk)\.(?=[a-z0-9-]+\.)/;

/**
 * Returns the id of the model itself, without region prefix and ARN. The id of an ARN that only names a resource of the account
 * (application inference profiles, provisioned throughput, imported models) does not identify the model.
 */
export function baseModelId(model: string): string {
  const id = model.startsWith('arn:') ? model.slice(model.lastIndexOf('/') + 1) : model;
  return id.replace(geographies, '');
}

/**
 * Returns the maker of the model, from the beginning of its id: `anthropic`, `amazon`, `openai`; empty if the id does not name
 * it.
 */
export function makerOf(model: string): string {
  const id = baseModelId(model);
  const dot = id.indexOf('.');
  return dot > 0 ? id.slice(0, dot) : '';
}

/** Returns a model id or ARN as path segment, with `:` and `/` percent-encoded. Throws `bad_request` for other text. */
export function modelSegment(model: string): string {
  if (model === '' || model === '.' || model === '..') throw badParam('model', 'a model id or ARN is expected');
  return encodeURIComponent(model);
}
