import { badParam } from '../bad-param.ts';

/**
 * Returns a model name as part of a path: `gemini-3.8-flash`, `models/gemini-3.8-flash`, `claude-sonnet-4-5@20250929`. Throws
 * `bad_request` for an empty name, and for one that changes the rest of the path.
 */
export function resourcePath(model: string): string {
  const steps = model.split('/');
  if (steps.some((step) => step === '' || step === '.' || step === '..'))
    throw badParam('model', 'the name of a model is expected');
  return steps.map((step) => encodeURIComponent(step).replaceAll('%40', '@').replaceAll('%3A', ':')).join('/');
}
